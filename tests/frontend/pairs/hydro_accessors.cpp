// A small explicit hydrodynamics step on an unstructured mesh of hexahedra, as C++ codes have it:
// private containers behind inline accessors, one object handed on by reference.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <vector>

typedef double Real_t;
typedef int Index_t;

class Domain {
public:
  Domain(Index_t edge);

  Real_t &x(Index_t i) { return m_x[i]; }
  Real_t &y(Index_t i) { return m_y[i]; }
  Real_t &z(Index_t i) { return m_z[i]; }
  Real_t &xd(Index_t i) { return m_xd[i]; }
  Real_t &yd(Index_t i) { return m_yd[i]; }
  Real_t &xdd(Index_t i) { return m_xdd[i]; }
  Real_t &ydd(Index_t i) { return m_ydd[i]; }
  Real_t &fx(Index_t i) { return m_fx[i]; }
  Real_t &fy(Index_t i);
  Real_t &nodalMass(Index_t i) { assert(i >= 0); return m_nodalMass[i]; }
  const Real_t &e(Index_t i) const { return m_e[i]; }
  Real_t &e(Index_t i) { return m_e[i]; }
  Real_t p(Index_t i) const { return m_p.at(i); }
  Real_t &p(Index_t i) { return m_p[i]; }
  Real_t &q(Index_t i) { return m_q.data()[i]; }
  Real_t &v(Index_t i) { return *(m_v + i); }
  Real_t &volo(Index_t i) { return m_volo[i]; }
  Real_t &ss(Index_t i) { return m_ss[i]; }
  Index_t *nodelist(Index_t i) { return &m_nodelist[Index_t(8) * i]; }
  Index_t symmX(Index_t i) const { return m_symmX[i]; }
  Index_t numSymmX() const { return m_symmX.size(); }
  Index_t nodeElemCount(Index_t i) { return m_nodeElemStart[i + 1] - m_nodeElemStart[i]; }
  Index_t *nodeElemCornerList(Index_t i) { return &m_nodeElemCornerList[m_nodeElemStart[i]]; }
  Index_t numElem() const { return m_numElem; }
  Index_t numNode() const { return m_numNode; }
  Real_t &dtcourant() { return m_dtcourant; }
  Real_t u_cut() const { return m_u_cut; }

private:
  void AllocateElements(Index_t numElem);
  void AllocateNodes(Index_t numNode);

  std::vector<Real_t> m_x, m_y, m_z, m_xd, m_yd, m_xdd, m_ydd, m_fx, m_fy, m_nodalMass;
  std::vector<Real_t> m_e, m_p, m_q, m_volo, m_ss;
  Real_t *m_v;
  std::vector<Index_t> m_nodelist, m_symmX, m_nodeElemStart;
  Index_t *m_nodeElemCornerList;
  Index_t m_numElem, m_numNode;
  Real_t m_dtcourant, m_u_cut;
};

inline Real_t &Domain::fy(Index_t i) { return m_fy[i]; }

Domain::Domain(Index_t edge) : m_u_cut(1e-7) {
  m_numElem = edge * edge * edge;
  m_numNode = (edge + 1) * (edge + 1) * (edge + 1);
  AllocateElements(m_numElem);
  AllocateNodes(m_numNode);
  m_symmX.resize((edge + 1) * (edge + 1));
}

void Domain::AllocateElements(Index_t numElem) {
  m_nodelist.resize(8 * numElem);
  m_e.resize(numElem);
  m_p.resize(numElem);
  m_q.resize(numElem);
  m_volo.resize(numElem);
  m_ss.resize(numElem);
  m_v = new Real_t[numElem];
}

void Domain::AllocateNodes(Index_t numNode) {
  m_x.resize(numNode);
  m_y.resize(numNode);
  m_xd.resize(numNode);
  m_yd.resize(numNode);
  m_xdd.resize(numNode);
  m_ydd.resize(numNode);
  m_fx.resize(numNode);
  m_fy.resize(numNode);
  m_nodalMass.resize(numNode);
  m_nodeElemStart.resize(numNode + 1);
}

static inline Real_t Area(Real_t ax, Real_t ay, Real_t bx, Real_t by) { return ax * by - ay * bx; }

static void ClearForces(Domain &domain) {
  Index_t numNode = domain.numNode();
#pragma omp parallel for firstprivate(numNode)
  for (Index_t i = 0; i < numNode; ++i) {
    domain.fx(i) = Real_t(0.0);
    domain.fy(i) = Real_t(0.0);
  }
}

static void InitStress(Domain &domain, Real_t *sigxx, Real_t *sigyy, Index_t numElem) {
#pragma omp parallel for firstprivate(numElem)
  for (Index_t i = 0; i < numElem; ++i) {
    sigxx[i] = sigyy[i] = -domain.p(i) - domain.q(i);
  }
}

static inline void CollectNodes(Domain &domain, const Index_t *elemToNode, Real_t *xl, Real_t *yl) {
  for (Index_t lnode = 0; lnode < 8; ++lnode) {
    xl[lnode] = domain.x(elemToNode[lnode]);
    yl[lnode] = domain.y(elemToNode[lnode]);
  }
}

static void IntegrateStress(Domain &domain, const Real_t *sigxx, const Real_t *sigyy,
                            Real_t *fx_elem, Real_t *fy_elem, Index_t numElem) {
#pragma omp parallel for firstprivate(numElem)
  for (Index_t k = 0; k < numElem; ++k) {
    const Index_t *const elemToNode = domain.nodelist(k);
    Real_t x_local[8], y_local[8];
    CollectNodes(domain, elemToNode, x_local, y_local);
    for (Index_t c = 0; c < 8; ++c) {
      const Real_t a = Area(x_local[c], y_local[c], x_local[7 - c], y_local[7 - c]);
      fx_elem[k * 8 + c] = a * sigxx[k];
      fy_elem[k * 8 + c] = a * sigyy[k];
    }
  }
}

static void SumForces(Domain &domain, const Real_t *fx_elem, const Real_t *fy_elem) {
  Index_t numNode = domain.numNode();
#pragma omp parallel for firstprivate(numNode)
  for (Index_t gnode = 0; gnode < numNode; ++gnode) {
    Index_t count = domain.nodeElemCount(gnode);
    Index_t *cornerList = domain.nodeElemCornerList(gnode);
    Real_t fx_tmp = Real_t(0.0), fy_tmp = Real_t(0.0);
    for (Index_t i = 0; i < count; ++i) {
      Index_t ielem = cornerList[i];
      fx_tmp += fx_elem[ielem];
      fy_tmp += fy_elem[ielem];
    }
    domain.fx(gnode) = fx_tmp;
    domain.fy(gnode) = fy_tmp;
  }
}

static void CalcAcceleration(Domain &domain, Index_t numNode) {
#pragma omp parallel for firstprivate(numNode)
  for (Index_t i = 0; i < numNode; ++i) {
    domain.xdd(i) = domain.fx(i) / domain.nodalMass(i);
    domain.ydd(i) = domain.fy(i) / domain.nodalMass(i);
  }
}

static void ApplyBoundary(Domain &domain) {
  Index_t n = domain.numSymmX();
#pragma omp parallel for
  for (Index_t i = 0; i < n; ++i)
    domain.xdd(domain.symmX(i)) = Real_t(0.0);
}

static void CalcVelocity(Domain &domain, const Real_t dt, const Real_t u_cut, Index_t numNode) {
#pragma omp parallel for firstprivate(numNode)
  for (Index_t i = 0; i < numNode; ++i) {
    Real_t xdtmp = domain.xd(i) + domain.xdd(i) * dt;
    if (std::fabs(xdtmp) < u_cut) xdtmp = Real_t(0.0);
    domain.xd(i) = xdtmp;
    domain.yd(i) += domain.ydd(i) * dt;
  }
}

static void CalcPosition(Domain &domain, const Real_t dt) {
#pragma omp parallel for
  for (Index_t i = 0; i < domain.numNode(); ++i) {
    domain.x(i) += domain.xd(i) * dt;
    domain.y(i) += domain.yd(i) * dt;
  }
}

static void CalcPressure(Domain &domain, const Real_t *vnewc, Index_t *regElemList, Index_t length) {
#pragma omp parallel for firstprivate(length)
  for (Index_t i = 0; i < length; ++i) {
    Index_t ielem = regElemList[i];
    Real_t c1s = Real_t(2.0) / Real_t(3.0) * (vnewc[ielem] + Real_t(1.0));
    domain.p(ielem) = std::max(c1s * domain.e(ielem), Real_t(0.0));
    domain.ss(ielem) = std::sqrt(std::abs(c1s));
  }
}

static void UpdateVolumes(Domain &domain, const Real_t *vnew, Real_t v_cut, Index_t length) {
#pragma omp parallel for firstprivate(length, v_cut)
  for (Index_t i = 0; i < length; ++i) {
    Real_t tmpV = vnew[i];
    if (std::fabs(tmpV - Real_t(1.0)) < v_cut) tmpV = Real_t(1.0);
    domain.v(i) = tmpV;
  }
}

static void CalcTimeConstraint(Domain &domain) {
  Index_t numElem = domain.numElem();
  Real_t dt = domain.dtcourant();
#pragma omp parallel for reduction(min : dt)
  for (Index_t i = 0; i < numElem; ++i) {
    Real_t dtf = domain.ss(i) * domain.ss(i) + domain.volo(i);
    dt = std::min(dt, dtf);
  }
  domain.dtcourant() = dt;
}

static void Step(Domain &domain) {
  Index_t numElem = domain.numElem();
  Real_t *sigxx = (Real_t *)std::malloc(sizeof(Real_t) * numElem);
  Real_t *sigyy = (Real_t *)std::malloc(sizeof(Real_t) * numElem);
  Real_t *fx_elem = (Real_t *)std::malloc(sizeof(Real_t) * numElem * 8);
  Real_t *fy_elem = (Real_t *)std::malloc(sizeof(Real_t) * numElem * 8);
  Index_t *regElemList = (Index_t *)std::malloc(sizeof(Index_t) * numElem);
  ClearForces(domain);
  InitStress(domain, sigxx, sigyy, numElem);
  IntegrateStress(domain, sigxx, sigyy, fx_elem, fy_elem, numElem);
  SumForces(domain, fx_elem, fy_elem);
  CalcAcceleration(domain, domain.numNode());
  ApplyBoundary(domain);
  CalcVelocity(domain, 0.1, domain.u_cut(), domain.numNode());
  CalcPosition(domain, 0.1);
  CalcPressure(domain, sigxx, regElemList, numElem);
  UpdateVolumes(domain, sigxx, 1e-10, domain.numElem());
  CalcTimeConstraint(domain);
}

int main(int argc, char **argv) {
  Domain *locDom = new Domain(std::atoi(argv[1]));
  for (int cycle = 0; cycle < 10; ++cycle) Step(*locDom);
  delete locDom;
}
