import sys
from pathlib import Path
from datasets import SOURCES
from evaluate import evaluate
import re
pat=sys.argv[2] if len(sys.argv)>2 else "."
for s in SOURCES:
    if sys.argv[1] not in s.read.__module__+s.read.__name__: continue
    d=s.read(Path("/work/shared/data")/s.file)
    e=evaluate([d],processes=2)[0]
    for c,a,j in zip(d.cases,e.answers,e.variants["all parts on"]):
        if not re.search(pat,c.label): continue
        print(c.label,"conf",a.confidence,"right",j.right, "regret",j.regret)
        print("   ", " ".join(f"{t}:{v:.3g}/{a.seconds[t]:.3g}" for t,v in c.measured.items()))
