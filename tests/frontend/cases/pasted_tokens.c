/* regions: 1 */
#define REAL(x) x##F
#define CAT(a,b) a##b
#define P(a) a##=
void f(float*a,float*bcd){
#pragma omp parallel for
for(int i=0;i<CAT(1,00);i++) {a[i]=REAL(0.5)*CAT(b,cd)[i]+REAL(1e-3); a[i] P(+) CAT(0x,1F);}
}
