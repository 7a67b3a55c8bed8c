# julia example.jl FOLDER, then: python liestep_judge.py free_asymmetric FOLDER/jl_*.csv --order 2
# A torque-free body by the explicit midpoint rule: replace `slope` and the step by your engine.
using Printf

const J = [2.0, 3.0, 4.0]                               # kg m2, from cases.csv, as are the next two lines
const start = [0.1, 0.3, 0.3, 0.9, 0.9, -0.6, 0.7]      # quaternion w x y z, rate in the body
const t_end, coarsest, levels = 3.0, 64, 5

function slope(y)
    a, b, c, d, p, q, r = y
    [-(b*p + c*q + d*r)/2, (a*p + c*r - d*q)/2, (a*q + d*p - b*r)/2, (a*r + b*q - c*p)/2,
     (J[2] - J[3])*q*r/J[1], (J[3] - J[1])*r*p/J[2], (J[1] - J[2])*p*q/J[3]]
end

for k in 0:levels-1
    steps = coarsest*2^k
    h = t_end/steps
    y = copy(start)
    open(joinpath(ARGS[1], "jl_$steps.csv"), "w") do file
        println(file, "# step = $h")
        println(file, "time,quaternion_w,quaternion_x,quaternion_y,quaternion_z,rate_x,rate_y,rate_z")
        for n in 0:steps
            println(file, join([@sprintf("%.17g", x) for x in [n*h; y]], ","))
            y = y + h*slope(y + h/2*slope(y))
        end
    end
end
