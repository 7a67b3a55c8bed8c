"""Formulas for pages: the plain text of sheets and docstrings (dq_i/dt = omega_i x q_i) as TeX, and TeX as MathML."""
import re
from collections.abc import Collection
from xml.etree import ElementTree

from docutils.utils.math.latex2mathml import tex2mathml

from docs.site.source import escaped

GREEK = {name: rf"\{name}" for name in ("alpha", "beta", "gamma", "Gamma", "delta", "eta", "theta", "kappa", "lambda",
                                        "mu", "xi", "pi", "Pi", "psi", "rho", "sigma", "Sigma",
                                        "tau", "chi", "omega", "Omega")}
NAMES = {**GREEK, "epsilon": r"\varepsilon", "eps": r"\varepsilon", "phi": r"\varphi", "sum": r"\sum", "QR": "Q R",
         "Qx": "Q x", "TS": r"\mathrm{T} S", "hat": r"\widehat", "DV": r"\mathrm{D} V", "Dg": r"\mathrm{D} g",
         "EA": r"\mathrm{EA}", "pbar": r"\bar{p}", "dT": r"\mathrm{d} T", "ds": r"\mathrm{d} s", "deg": r"^{\circ}",
         "dr": r"\mathrm{d} r", "dR": r"\mathrm{d} R",
         **{name: rf"\mathrm{{{name}}}" for name in ("cn", "sn", "dn", "cay", "dcay", "sinc", "dexp", "dexpinv", "sqrt",
                                                    "ad", "Ad", "diag", "tol", "tr", "se")},
         **{name: rf"\{name}" for name in ("sin", "cos", "cot", "arctan", "exp", "ln", "max", "min")}}
SIGNS = {"!=": r"\neq ", ">=": r"\geq ", "<=": r"\leq ", "-+": r"\mp ", "...": r"\ldots ", "..": r"\ldots ",
         "->": r"\to ", "<-": r"\leftarrow ", "{": r"\{", "}": r"\}", "×": r"\times "}
DERIVATIVE = re.compile(r"\bd(2?)([A-Za-z]+(?:_\w+)?)/d([A-Za-z]+(?:_(?:\w+?|\{[^}]*\}|\([^)]*\)))?)\1(?![A-Za-z0-9])")
DONE = r"\\text\{[^{}]*\}|\\frac\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}"
ID = rf"(?<![A-Za-z])(?!(?:{'|'.join(NAMES)})_)[a-z]{{2,}}\d?(?:_[a-z0-9]{{2,}})+"
INDEX = r"_(?:\{(?P<curly>[^}]*)\}|\((?P<paren>[^)]*)\)|(?P<low>\w+))"
POWER = r"(?P<power>\^)(?:\((?P<round>(?:[^()]|\([^()]*\))*)\)|(?P<flat>-?[^\W_]+))(?:_\((?P<under>[^()]*)\))?"
TOKEN = re.compile(rf"(?P<done>{DONE})|{POWER}|(?P<id>{ID})"
                   rf"|(?P<name>[A-Za-z]+)(?P<digits>\d*)(?P<star>\*?)(?:{INDEX})?(?P<wave>~?)(?P<prime>'*)|(?P<number>\d+(?:\.\d+)?)(?:e(?P<ten>-?\d+))?"
                   r"|(?P<space>\s+)|(?P<sign>->|<-|!=|>=|<=|-\+|\.\.\.?|.)")
CROSS = re.compile(r"(?<=[\w)|'\]}]) x (?=[\w(|\[\\])")
MATRIX = re.compile(r"\[(\[.*?\](?:, \[.*?\])*)\]")
TEXT = re.compile(r"(?<!\w)(?:[a-z]{2,}|a)(?:,? (?:[a-z]{2,}|a)(?!\w))+")
LETTER = re.compile(rf"-?(?:[B-HJ-Zb-z]|{'|'.join([*GREEK, 'phi', 'epsilon'])})\d?'?")
OPERATOR = re.compile(r"[=^_<>|]|\b[A-Za-z]~|\w[.](?=[A-Za-z(])|/\(|(?:[A-Za-z]\d?|\))/\d|\b(?:sqrt|diag)\("
                      r"|^[-+]$|\bd\w+/d\w|^[a-z]\d?\(\d\)$")
DISPLAYED = 34  # letters of an equation that has a line of its own


def mathml(tex: str, block: bool = False) -> str:
    """A formula of TeX as MathML; the index of a letter with an accent stands beside it, not below."""
    name = "{http://www.w3.org/1998/Math/MathML}"
    ElementTree.register_namespace("", name[1:-1])
    root = ElementTree.fromstring(tex2mathml(tex, as_block=block).replace("&ApplyFunction;", "&#8289;"))
    for node in root.iter():
        node.attrib.pop("accent", None)  # it would be drawn into its letter
    for place in [*root.iter(f"{name}munderover")]:
        letter, index, accent = place
        if (letter.text or "∑") not in "∑∏∫":
            place.tag, place[:] = f"{name}msub", [ElementTree.Element(f"{name}mover"), index]
            place[0].extend([letter, accent])
    return ElementTree.tostring(root, "unicode")


def tex(text: str) -> str:
    """A formula of plain text as TeX; words that it holds stand upright."""
    if matrix := MATRIX.search(text):
        rows = [" & ".join(map(tex, row.split(", "))) for row in re.findall(r"\[([^\[\]]*)\]", matrix[1])]
        inside = r"\begin{pmatrix}" + r" \\ ".join(rows) + r"\end{pmatrix}"
        return " ".join((tex(text[:matrix.start()]), inside, tex(text[matrix.end():]))).strip()
    text = DERIVATIVE.sub(lambda found: _fraction(*found.groups()), re.sub(r"\bhat (\w+)", r"hat(\1)", text))
    text = CROSS.sub(" × ", TEXT.sub(lambda found: found[0] if {*found[0].split()} & NAMES.keys()
                                     and " of " not in found[0] else rf"\text{{ {found[0]} }}", text))
    found = " ".join("".join(_token(token, text) for token in TOKEN.finditer(text)).split())
    found = re.sub(r"\\mathrm\{sqrt\} ?\(((?:[^()]|\([^()]*\))*)\)", r"\\sqrt{\1}", found)
    return re.sub(r"\\widehat ?\(([^()]*)\)", r"\\widehat{\1}", found).strip()


def _fraction(second: str, upper: str, lower: str) -> str:
    power = "^{2}"*bool(second)
    return rf"\frac{{\mathrm{{d}}{power} {tex(upper)}}}{{\mathrm{{d}}{tex(lower)}{power}}}"


def _token(token: re.Match, text: str) -> str:
    if token["done"]:
        return token[0]
    if token["ten"]:
        return rf"{token['number']} \cdot 10^{{{int(token['ten'])}}}"
    if token["power"]:
        return f"^{{{tex(token['round'] or token['flat'])}}}" + f"_{{{tex(token['under'] or '')}}}"*bool(token["under"])
    if token["id"]:
        return rf"\,\mathrm{{{token[0].replace('_', ' ')}}}"
    if name := token["name"]:
        low = token["curly"] or token["paren"] or token["low"] or token["digits"] or ""
        if re.fullmatch("[a-z]{4,}", low) and low not in NAMES:
            low = rf"\mathrm{{{low}}}"
        elif low:
            low = tex(" ".join(low) if low.isalpha() and low not in NAMES else low)
        known = NAMES.get(name) or (name if len(name) == 1 else rf"\,\mathrm{{{name}}}")
        known = rf"\tilde{{{known}}}" if token["wave"] else known
        apart = r"\,"*(r"\," in known and bool(re.match(r" [A-Za-z(\\]", text[token.end():])))
        known += "^{*}"*bool(token["star"])
        return known + f"_{{{low}}}"*bool(low) + token["prime"] + apart + " "*(known[0] == "\\")
    if token[0] == "." and text[:token.start()].strip() and text[token.end():].strip():
        return r" \cdot "
    return SIGNS.get(token[0], token[0])


def inline(text: str, known: Collection[str] = ()) -> str:
    """A text with its formulas as TeX between dollars, long equations in lines of their own, and ids as code: Markdown.
    `known`: names of parameters, which formulas hold besides letters."""
    found: list[str] = []
    run: list[str] = []
    words = re.findall(r"(?:[^\s`]|`[^`]*`)+", text)
    for word in [*words, ""]:
        inside = "".join(run).count("(") > "".join(run).count(")") and word and not re.search(r"[A-Za-z]{2}|`", word)
        if inside or _is_math(word.rstrip(",;:.") or word, known):
            run.append(word)
        else:
            found, run = [*found, *_formula(run, known, run == words), _word(word)], []
        if run and word[-1] in ".;:" and word[-3:] != "...":
            found, run = [*found, *_formula(run, known)], []
    return " ".join(filter(None, found))


def _word(word: str) -> str:
    """A word or number of a text, or an id."""
    bare = word.strip(",;:.()")
    if re.fullmatch(rf"{ID}(\[\w\])?", bare):
        return word.replace(bare, f"`{bare}`")
    if LETTER.fullmatch(bare) and not re.fullmatch(r"[A-Z]\.", word):  # that is of a name
        return word.replace(bare, f"${tex(bare)}$")
    return _escaped(word)


def _escaped(word: str) -> str:
    return "".join(part if part[:1] == "`" else escaped(part) for part in re.split(r"(`[^`]+`)", word))


def _is_math(word: str, known: Collection[str]) -> bool:
    """Whether a formula can hold this word: letters, names of numbers and functions, signs."""
    if not word or re.search(r"[`\"]|^\W*[aA]\W*$", word) or word in ("e.g", "i.e"):
        return False
    bare = re.sub(r"[_^](\w+|\{[^}]*\}?)", "", re.sub(r"\bd(?=\w+/d)|/d2?(?=\w)|'", " ", word))
    letters = re.findall(r"[A-Za-z]+", bare)
    return word.strip("()-") in known or (not re.search(ID, word) and all(
        len(part) == 1 or part in NAMES or part in known for part in letters))


def _closed(text: str) -> bool:
    """Whether a text has as many closing brackets as opening ones."""
    return all(text.count(one) == text.count(other) for one, other in ("()", "{}", "[]"))


def _formula(run: list[str], known: Collection[str], alone: bool = False) -> list[str]:
    """Words that may be a formula, as Markdown; pieces between commas are formulas of their own. `alone`: they are the
    whole text, so that a bracket that is missing is missing in what it quotes."""
    bare = [word.rstrip(",;:.") for word in run]
    negative = len(run) > 1 and re.match(r"-[A-Za-z]", run[0])
    if not (negative or CROSS.search(" ".join(bare)) or any(OPERATOR.search(re.sub(ID, "", word)) for word in bare)):
        units = any(word.strip("()")[:1].isdigit() for word in bare)  # may follow a number
        return [_escaped(word) if units and word.strip(",;:.") not in GREEK else _word(word) for word in run]
    if bare[0].strip("()") in {*known, "sum", "max"} and bare[1] not in ("=", "+", "-", "x"):
        return [_word(run[0]), *_formula(run[1:], known)]
    if len(run) > 1 and run[-2][-1] == "," and not OPERATOR.search(bare[-1]) and bare[-1][-1:] not in (")", "]"):
        return [*_formula(run[:-1], known), _word(run[-1])]
    text = " ".join(run)
    whole = re.sub(r"[,;:]+$|(?<!\.)\.$", "", text)
    if not alone and (re.match(r"[^(]*\)", whole) or not _closed(whole)):
        before = next((k for k, word in enumerate(run) if k and word[0] == "(" and _closed(" ".join(run[:k]))), 0)
        return [*(_formula(run[:before], known) if before else ()), *map(_word, run[before:])]
    pieces = split(whole)
    if any("=" in piece and len(piece) > DISPLAYED for piece in pieces):
        return ["".join(f"\n\n$$\n{tex(piece)}\n$$\n\n" for piece in pieces)]
    return [", ".join(f"${tex(piece)}$" for piece in pieces) + text[len(whole):]]


def split(text: str) -> list[str]:
    """Parts between commas and semicolons outside brackets; one without a relation belongs to the part before it."""
    parts, depth, start = [], 0, 0
    for place, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if sign in ",;" and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    joined: list[str] = []
    for part in [*parts, text[start:]]:
        if joined and not re.search(r"[=<>]", part):
            joined[-1] += "," + part
        else:
            joined.append(part.strip())
    return joined


def equations(text: str, known: Collection[str] = ()) -> str:
    """The equations of a sheet, each in a line of its own, then the sentences that follow them: Markdown."""
    formulas, _, rest = text.partition(". ")
    shown = [f"$$\n{tex(part)}\n$$\n" for half in formulas.split("; ") for part in split(half)]
    return "\n".join([*shown, inline(rest, known)])


def block(text: str, known: Collection[str] = ()) -> str:
    """An indented block of a docstring: equations, or names with what is said of each."""
    first = len(text) - len(text.lstrip())
    lines: list[str] = []
    for line in text.splitlines():
        if lines and len(line) - len(line.lstrip()) > first:
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line.strip())
    if all(re.match(r"[\w ]+ {2,}\S", line) for line in lines):
        return "\n".join(f"- *{name}*: {'; '.join(inline(part, known) for part in parts)}"
                         for name, *parts in (re.split(r" {2,}", line) for line in lines))
    pieces = [piece for line in lines for half in re.split(r", {2,}", line.rstrip(",")) for piece in split(half)]
    return "\n".join(f"$$\n{tex(piece)}\n$$\n" for piece in pieces)
