from core_cycles import *
from predictor import *
for p in PUBLISHED:
    n=1000 if p.kernel in("jacobi","gauss-seidel") else N
    c=core_cycles(Code(TEXTS[p.kernel],sizes=(("n",n),)),machine_named(p.machine))/iterations(p.kernel,n)
    print(f"{p.kernel:13} {p.machine:28} {p.cycles:7.3f} {c:7.3f} {c/p.cycles-1:+.0%}")
