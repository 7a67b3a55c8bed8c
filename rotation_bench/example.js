// node example.js FOLDER, then: python liestep_judge.py free_asymmetric FOLDER/js_*.csv --order 2
// A torque-free body by the explicit midpoint rule: replace `slope` and the step by your engine.
const fs = require("fs"), path = require("path")
const data = JSON.parse(fs.readFileSync(path.join(__dirname, "cases.json")))
const kase = data.cases.free_asymmetric, si = kase.systems.SI
const J = si.parameters.moments[0].map(Number)

function slope(y) {
  const [a, b, c, d, p, q, r] = y
  return [-(b*p + c*q + d*r)/2, (a*p + c*r - d*q)/2, (a*q + d*p - b*r)/2, (a*r + b*q - c*p)/2,
    (J[1] - J[2])*q*r/J[0], (J[2] - J[0])*r*p/J[1], (J[0] - J[1])*p*q/J[2]]
}

for (let k = 0; k < kase.levels; k++) {
  const steps = kase.steps*2**k, h = Number(si.t_end)/steps
  let y = [...si.start.quaternion[0], ...si.start.rate[0]].map(Number)
  const rows = [`# step = ${h}`, "time," + [..."wxyz"].map(x => "quaternion_" + x) + "," + [..."xyz"].map(x => "rate_" + x)]
  for (let n = 0; n <= steps; n++) {
    rows.push([n*h, ...y].join())
    const half = slope(y).map((s, i) => y[i] + h/2*s)
    y = slope(half).map((s, i) => y[i] + h*s)
  }
  fs.writeFileSync(path.join(process.argv[2], `js_${steps}.csv`), rows.join("\n") + "\n")
}
