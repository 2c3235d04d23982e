// The loops of hydro_accessors.cpp over plain pointers, region for region.
#include <algorithm>
#include <cmath>
#include <cstdlib>

typedef double Real_t;
typedef int Index_t;

Real_t *x, *y, *xd, *yd, *xdd, *ydd, *fx, *fy, *nodalMass, *e, *p, *q, *v, *volo, *ss;
Index_t *nodelist, *symmX, *nodeElemStart, *nodeElemCornerList;
Index_t numElem, numNode, numSymmX;
Real_t dtcourant, u_cut;

static inline Real_t Area(Real_t ax, Real_t ay, Real_t bx, Real_t by) { return ax * by - ay * bx; }

static void ClearForces() {
#pragma omp parallel for firstprivate(numNode)
  for (Index_t i = 0; i < numNode; ++i) {
    fx[i] = Real_t(0.0);
    fy[i] = Real_t(0.0);
  }
}

static void InitStress(Real_t *sigxx, Real_t *sigyy, Index_t numElem) {
#pragma omp parallel for firstprivate(numElem)
  for (Index_t i = 0; i < numElem; ++i) {
    sigxx[i] = sigyy[i] = -p[i] - q[i];
  }
}

static inline void CollectNodes(const Index_t *elemToNode, Real_t *xl, Real_t *yl) {
  for (Index_t lnode = 0; lnode < 8; ++lnode) {
    xl[lnode] = x[elemToNode[lnode]];
    yl[lnode] = y[elemToNode[lnode]];
  }
}

static void IntegrateStress(const Real_t *sigxx, const Real_t *sigyy,
                            Real_t *fx_elem, Real_t *fy_elem, Index_t numElem) {
#pragma omp parallel for firstprivate(numElem)
  for (Index_t k = 0; k < numElem; ++k) {
    const Index_t *const elemToNode = &nodelist[8 * k];
    Real_t x_local[8], y_local[8];
    CollectNodes(elemToNode, x_local, y_local);
    for (Index_t c = 0; c < 8; ++c) {
      const Real_t a = Area(x_local[c], y_local[c], x_local[7 - c], y_local[7 - c]);
      fx_elem[k * 8 + c] = a * sigxx[k];
      fy_elem[k * 8 + c] = a * sigyy[k];
    }
  }
}

static void SumForces(const Real_t *fx_elem, const Real_t *fy_elem) {
#pragma omp parallel for firstprivate(numNode)
  for (Index_t gnode = 0; gnode < numNode; ++gnode) {
    Index_t count = nodeElemStart[gnode + 1] - nodeElemStart[gnode];
    Index_t *cornerList = &nodeElemCornerList[nodeElemStart[gnode]];
    Real_t fx_tmp = Real_t(0.0), fy_tmp = Real_t(0.0);
    for (Index_t i = 0; i < count; ++i) {
      Index_t ielem = cornerList[i];
      fx_tmp += fx_elem[ielem];
      fy_tmp += fy_elem[ielem];
    }
    fx[gnode] = fx_tmp;
    fy[gnode] = fy_tmp;
  }
}

static void CalcAcceleration(Index_t numNode) {
#pragma omp parallel for firstprivate(numNode)
  for (Index_t i = 0; i < numNode; ++i) {
    xdd[i] = fx[i] / nodalMass[i];
    ydd[i] = fy[i] / nodalMass[i];
  }
}

static void ApplyBoundary() {
  Index_t n = numSymmX;
#pragma omp parallel for
  for (Index_t i = 0; i < n; ++i)
    xdd[symmX[i]] = Real_t(0.0);
}

static void CalcVelocity(const Real_t dt, const Real_t u_cut, Index_t numNode) {
#pragma omp parallel for firstprivate(numNode)
  for (Index_t i = 0; i < numNode; ++i) {
    Real_t xdtmp = xd[i] + xdd[i] * dt;
    if (std::fabs(xdtmp) < u_cut) xdtmp = Real_t(0.0);
    xd[i] = xdtmp;
    yd[i] += ydd[i] * dt;
  }
}

static void CalcPosition(const Real_t dt) {
#pragma omp parallel for
  for (Index_t i = 0; i < numNode; ++i) {
    x[i] += xd[i] * dt;
    y[i] += yd[i] * dt;
  }
}

static void CalcPressure(const Real_t *vnewc, Index_t *regElemList, Index_t length) {
#pragma omp parallel for firstprivate(length)
  for (Index_t i = 0; i < length; ++i) {
    Index_t ielem = regElemList[i];
    Real_t c1s = Real_t(2.0) / Real_t(3.0) * (vnewc[ielem] + Real_t(1.0));
    p[ielem] = std::max(c1s * e[ielem], Real_t(0.0));
    ss[ielem] = std::sqrt(std::abs(c1s));
  }
}

static void UpdateVolumes(const Real_t *vnew, Real_t v_cut, Index_t length) {
#pragma omp parallel for firstprivate(length, v_cut)
  for (Index_t i = 0; i < length; ++i) {
    Real_t tmpV = vnew[i];
    if (std::fabs(tmpV - Real_t(1.0)) < v_cut) tmpV = Real_t(1.0);
    v[i] = tmpV;
  }
}

static void CalcTimeConstraint() {
  Real_t dt = dtcourant;
#pragma omp parallel for reduction(min : dt)
  for (Index_t i = 0; i < numElem; ++i) {
    Real_t dtf = ss[i] * ss[i] + volo[i];
    dt = std::min(dt, dtf);
  }
  dtcourant = dt;
}

static void Step() {
  Real_t *sigxx = (Real_t *)std::malloc(sizeof(Real_t) * numElem);
  Real_t *sigyy = (Real_t *)std::malloc(sizeof(Real_t) * numElem);
  Real_t *fx_elem = (Real_t *)std::malloc(sizeof(Real_t) * numElem * 8);
  Real_t *fy_elem = (Real_t *)std::malloc(sizeof(Real_t) * numElem * 8);
  Index_t *regElemList = (Index_t *)std::malloc(sizeof(Index_t) * numElem);
  ClearForces();
  InitStress(sigxx, sigyy, numElem);
  IntegrateStress(sigxx, sigyy, fx_elem, fy_elem, numElem);
  SumForces(fx_elem, fy_elem);
  CalcAcceleration(numNode);
  ApplyBoundary();
  CalcVelocity(0.1, u_cut, numNode);
  CalcPosition(0.1);
  CalcPressure(sigxx, regElemList, numElem);
  UpdateVolumes(sigxx, 1e-10, numElem);
  CalcTimeConstraint();
}

int main(int argc, char **argv) {
  Index_t edge = std::atoi(argv[1]);
  numElem = edge * edge * edge;
  numNode = (edge + 1) * (edge + 1) * (edge + 1);
  for (int cycle = 0; cycle < 10; ++cycle) Step();
}
