import sys,time
from pathlib import Path
from datasets import SOURCES
from evaluate import evaluate
from statistics import median
for s in SOURCES:
    if len(sys.argv)>1 and not any(a in s.file for a in sys.argv[1:]): continue
    t=time.time()
    d=s.read(Path("/work/shared/data")/s.file)
    try: e=evaluate([d],processes=2)[0]
    except Exception as x:
        import traceback; traceback.print_exc(limit=-4); print("FAILED",d.name,x); continue
    j=e.variants["all parts on"]
    def med(k):
        v=[getattr(x,k) for x in j if getattr(x,k) is not None]
        return round(sum(v)/len(v) if v and isinstance(v[0],bool) else median(v),3) if v else None
    print(d.name,len(d.cases),"time",med("time_error"),"speedup",med("speedup_error"),"class",med("saturating_right"),"point",med("point_right"),"right",med("right"),"conf",med("confidence"),f"{time.time()-t:.1f}s",flush=True)
