// Uses of functions and packages, each with values at time = 1 that were derived by hand.
// A case ends where the next one begins; M is the model of each.

// case: media3
// expect: a.y = 180; a.z = 188; a.w = 198; b.y = 240; b.z = 252; b.w = 297; c.y = 210;
// expect: c.z = 222; d.y = 4000; d.z = 4020; d.w = 100;
partial package Base constant Real cp = 1; constant Real T0 = 10; constant Real hot = 4*cp;
replaceable function h input Real T; input Real ref = T0; output Real y;
  algorithm y := cp*(T - ref); end h;
function e input Real T; output Real y; algorithm y := h(T) + hot; end e; end Base;
package MA extends Base(cp=2); end MA;
package MB extends Base(cp=3, T0=20); end MB;
package MC extends MB(cp=5); redeclare function h input Real T; input Real ref = 2*T0;
  output Real y; algorithm y := T*ref; end h; end MC;
model V replaceable package M = MA constrainedby Base; Real y = M.h(100*time);
  Real z = M.e(100*time); Real w = M.h(100*time, 1); end V;
model M
  V a; V b(redeclare package M = MB); V c(redeclare package M = MB(T0=30));
    V d(redeclare package M = MC);
end M;

// case: media_pass
// expect: x.v.y = 180; y.b.v.y = 240; y.b.u.y = 180; z.b.v.y = 200; z.b.v.z = 220;
partial package Base constant Real cp = 1; constant Real T0 = 10; constant Real hot = 4*cp;
replaceable function h input Real T; input Real ref = T0; output Real y;
  algorithm y := cp*(T - ref); end h;
function e input Real T; output Real y; algorithm y := h(T) + hot; end e; end Base;
package MA extends Base(cp=2); end MA;
package MB extends Base(cp=3, T0=20); end MB;
package MC extends MB(cp=5); redeclare function h input Real T; input Real ref = 2*T0;
  output Real y; algorithm y := T*ref; end h; end MC;
model V replaceable package M = MA constrainedby Base; Real y = M.h(100*time);
  Real z = M.e(100*time); Real w = M.h(100*time, 1); end V;
model Box replaceable package N = MA constrainedby Base; V v(redeclare package M = N); V u;
  end Box; model Bigger replaceable package Q = MB constrainedby Base;
  Box b(redeclare package N = Q); end Bigger;
model M
  Box x; Bigger y; Bigger z(redeclare package Q = MC(T0=1));
end M;

// case: media_array
// expect: a[1].y = 150; a[2].y = 150; b[2].y = 180;
partial package Base constant Real cp = 1; constant Real T0 = 10; constant Real hot = 4*cp;
replaceable function h input Real T; input Real ref = T0; output Real y;
  algorithm y := cp*(T - ref); end h;
function e input Real T; output Real y; algorithm y := h(T) + hot; end e; end Base;
package MA extends Base(cp=2); end MA;
package MB extends Base(cp=3, T0=20); end MB;
package MC extends MB(cp=5); redeclare function h input Real T; input Real ref = 2*T0;
  output Real y; algorithm y := T*ref; end h; end MC;
model V replaceable package M = MA constrainedby Base; Real y = M.h(100*time);
  Real z = M.e(100*time); Real w = M.h(100*time, 1); end V;
model M
  V a[2](redeclare package M = MB(T0=50)); V b[2];
end M;

// case: media_alias
// expect: a.y = 280; a.z = 308; q = 588; r = 7;
partial package Base constant Real cp = 1; constant Real T0 = 10; constant Real hot = 4*cp;
replaceable function h input Real T; input Real ref = T0; output Real y;
  algorithm y := cp*(T - ref); end h;
function e input Real T; output Real y; algorithm y := h(T) + hot; end e; end Base;
package MA extends Base(cp=2); end MA;
package MB extends Base(cp=3, T0=20); end MB;
package MC extends MB(cp=5); redeclare function h input Real T; input Real ref = 2*T0;
  output Real y; algorithm y := T*ref; end h; end MC;
model V replaceable package M = MA constrainedby Base; Real y = M.h(100*time);
  Real z = M.e(100*time); Real w = M.h(100*time, 1); end V;
model M
  package X = MB(cp=7); package Y = X(T0=60); V a(redeclare package M = Y); Real q = X.e(100*time);
    Real r = Y.cp;
end M;

// case: media_extends
// expect: a.y = 240; a.k = 3; b.y = 180;
partial package Base constant Real cp = 1; constant Real T0 = 10; constant Real hot = 4*cp;
replaceable function h input Real T; input Real ref = T0; output Real y;
  algorithm y := cp*(T - ref); end h;
function e input Real T; output Real y; algorithm y := h(T) + hot; end e; end Base;
package MA extends Base(cp=2); end MA;
package MB extends Base(cp=3, T0=20); end MB;
package MC extends MB(cp=5); redeclare function h input Real T; input Real ref = 2*T0;
  output Real y; algorithm y := T*ref; end h; end MC;
model V replaceable package M = MA constrainedby Base; Real y = M.h(100*time);
  Real z = M.e(100*time); Real w = M.h(100*time, 1); end V;
model V2 extends V(redeclare package M = MB); Real k = M.cp; end V2;
  model V3 extends V2(redeclare package M = MA(cp=11)); end V3;
model M
  V2 a; V b;
end M;

// case: short_chain
// expect: a = 122; b = 130; c = 400; d = 133; e = 145; f = 205; g = 113;
package P constant Real kk = 2; function f input Real u; input Real k = 1; input Real m = kk;
  output Real y; algorithm y := 100*u + 10*k + m; end f;
function g = f(k=kk); function h = g(m=5*kk); function i = h(k=9, u=3); end P;
  package Q = P(kk=3);
model M
  Real a = P.g(time); Real b = P.h(time); Real c = P.i(); Real d = Q.g(time); Real e = Q.h(time);
    Real f = Q.i(time); Real g = Q.f(time);
end M;

// case: short_in_model
// expect: a.y = 4; b.y = 6; d.y = 7;
function f input Real u; input Real k = 1; output Real y; algorithm y := u*k; end f;
model A constant Real c = 4; function g = f(k=c); function h = g; Real y = h(time); end A;
model M
  A a; A b(c=6); A d(c=7);
end M;

// case: inner_fun
// expect: t.m.l.y = 13; t.n.y = 13; u.m.l.y = 21;
partial function pf input Real u; output Real y; end pf;
function f1 extends pf; input Real k = 2; algorithm y := k*u; end f1; function f2 extends pf;
  algorithm y := u + 10; end f2;
model Leaf outer function g = f1; Real y = g(3*time); end Leaf; model Mid Leaf l; end Mid;
model Top inner function g = f2; Mid m; Leaf n; end Top; model Top2 inner function g = f1(k=7);
  Mid m; end Top2;
model M
  Top t; Top2 u;
end M;

// case: inner_fun_redecl
// expect: t.m.y = 13; u.m.y = 15;
partial function pf input Real u; output Real y; end pf;
function f1 extends pf; input Real k = 2; algorithm y := k*u; end f1; function f2 extends pf;
  algorithm y := u + 10; end f2;
model Leaf outer function g = f1; Real y = g(3*time); end Leaf;
model Top replaceable function q = f2 constrainedby pf; inner function g = q; Leaf m; end Top;
model M
  Top t; Top u(redeclare function q = f1(k=5));
end M;

// case: two_levels
// expect: a = 11; b = 66; c = 110; d = 13; e = 69; f = 115; g = 19;
package P constant Real k = 1; constant Real j = 10*k; function f input Real u; output Real y;
  algorithm y := u*k + j; end f; end P;
package Q extends P(k=2*m); constant Real m = 3; function g input Real u; output Real y;
  algorithm y := f(u) + m; end g; end Q;
package R = Q(m=5); package S extends R(m=6, j=1); end S;
model M
  Real a = P.f(time); Real b = Q.f(time); Real c = R.f(time); Real d = S.f(time);
    Real e = Q.g(time); Real f = R.g(time); Real g = S.g(time);
end M;

// case: rec_default
// expect: a = 262; b = 524; c = 521; d = 162;
package P constant Real k = 2; record R Real a = k; Real b = 3*k; end R;
function f input R r; input Real s = k; output Real y; algorithm y := r.a + 10*r.b + 100*s; end f;
  end P; package Q = P(k=4);
model M
  P.R r; Q.R s; Q.R t(a=time); Real a = P.f(r); Real b = Q.f(s); Real c = Q.f(t);
    Real d = P.f(r, 1);
end M;

// case: rec_redecl
// refused: 2 algorithm sections
package B replaceable record S Real p; Real T = 5; end S; replaceable function d input S s;
  output Real y; algorithm y := s.p/s.T; end d;
function m input S s; input Real v; output Real y; algorithm y := d(s)*v; end m; end B;
package W extends B; redeclare record extends S Real x = 2; end S;
  redeclare function extends d algorithm y := s.p*s.T + s.x; end d; end W;
model U replaceable package M = W; M.S s(p=10*time); Real y = M.m(s, 3); end U;
model M
  U a;
end M;

// case: rec_redecl2
// expect: a.y = 156; b.y = 6;
package B replaceable record S Real p; Real T = 5; end S; replaceable function d input S s;
  output Real y; algorithm y := s.p/s.T; end d;
function m input S s; input Real v; output Real y; algorithm y := d(s)*v; end m; end B;
package W extends B; redeclare record S Real p; Real T = 5; Real x = 2; end S;
  redeclare function d input S s; output Real y; algorithm y := s.p*s.T + s.x; end d; end W;
model U replaceable package M = W; M.S s(p=10*time); Real y = M.m(s, 3); end U;
model M
  U a; U b(redeclare package M = B);
end M;

// case: fext
// expect: a = 12; b = 14; c = 14; d = 11; e = 13; k = 28;
function f input Real u; input Real c = 3; output Real y; protected Real q = 2*c;
  constant Real z = 5; algorithm y := u + q + z; end f;
function g extends f(c=4); end g; function h extends f(z=7); end h;
  function i extends g(z=8, c=1); end i; function j = i(c=2);
model M
  Real a = f(time); Real b = g(time); Real c = h(time); Real d = i(time); Real e = j(time);
    Real k = h(time, 10);
end M;

// case: fconstr
// expect: a.y = 106; c.y = 108;
partial function pf input Real u; input Real k; output Real y; end pf;
function f extends pf(k=1); algorithm y := u*k; end f; function h extends pf(k=2);
  algorithm y := u*k + 100; end h;
model A replaceable function g = f constrainedby pf(k=3); Real y = g(2*time); end A;
model M
  A a(redeclare function g = h); A c(redeclare function g = h(k=4));
end M;

// case: fredecl
// expect: a.y = 2; b.a.y = 2; b.b.y = 7; c.y = 21; d.y = 21; d.z = 12; e.y = 12; f.a.y = 4;
// expect: f.b.y = 7;
partial function pf input Real u; output Real y; end pf;
function f extends pf; input Real k = 1; algorithm y := u*k; end f; function h extends pf;
  input Real k = 2; input Real l = 3; algorithm y := u*k + l; end h;
model A replaceable function g = f constrainedby pf; Real y = g(2*time); end A; model B A a;
  A b(redeclare function g = h); end B;
model C extends A(redeclare function g = h(k=9)); end C; model D extends C; Real z = g(time);
  end D;
model M
  A a; B b; C c; D d; A e(redeclare function g = f(k=6)); B f(a(redeclare function g = h(l=0)));
end M;

// case: arr_const
// refused: unresolved Flat reference
package P constant Integer n = 3; constant Real w[n] = {i*i for i in 1:n};
  constant Real A[2,2] = [1, n; 3, 4];
function f input Real u; output Real y; protected Real q[n];
  algorithm for i in 1:n loop q[i] := w[i]*u; end for; y := sum(q) + A[1,2] + w[end]; end f;
function g input Real[n] x; output Real y; algorithm y := x*w; end g; end P; package Q = P(n=4);
  package R = P(n=2, w={5, 7});
model M
  Real a = P.f(time); Real b = Q.f(time); Real c = R.f(time); Real d = Q.w[4] + P.w[2] + R.w[1];
    Real e = R.g({time, 2}); Real s[R.n] = R.w*time;
end M;

// case: const_fun
// expect: a = 6; b = 15; c = 7; e = 16;
package P constant Real k = 2; constant Real d = f(3); function f input Real u; output Real y;
  algorithm y := u*k; end f;
function g input Real u = d; output Real y; algorithm y := u + 1; end g; end P;
  package Q = P(k=5);
model M
  Real a = P.d*time; Real b = Q.d*time; Real c = P.g() + 0*time; Real e = Q.g() + 0*time;
end M;

// case: enum_const
// expect: a = 10; b = 20; c = 30;
package P type E = enumeration(x, y, z); constant E e = E.x; function f input Real u;
  input E q = e; output Real y;
  algorithm y := if q == E.x then u elseif q == E.y then 2*u else 3*u; end f; end P;
package Q = P(e = P.E.y); package R extends P(e = E.z); end R;
model M
  Real a = P.f(10*time); Real b = Q.f(10*time); Real c = R.f(10*time);
end M;

// case: bool_const
// expect: a = 4; b = 404; c = 808;
package P constant Boolean hot = false; constant Integer n = 2; function f input Real u;
  output Real y; algorithm y := u; if hot then y := y + 100; end if; for i in 1:n loop y := y*2;
  end for; end f; end P;
package Q = P(hot=true); package R = Q(n=3);
model M
  Real a = P.f(time); Real b = Q.f(time); Real c = R.f(time);
end M;

// case: rec_const
// expect: a = 221; b = 551; c = 227; d = 12;
package P record D Real a; Real b; end D; constant D d(a=1, b=2); constant D e = D(a=3, b=d.b);
  function f input Real u; output Real y; algorithm y := u*d.a + 10*d.b + 100*e.b; end f; end P;
package Q = P(d(b=5)); package R extends P(d(a=7)); end R;
model M
  Real a = P.f(time); Real b = Q.f(time); Real c = R.f(time); Real d = Q.e.b + R.d.a;
end M;

// case: nest_pk
// expect: a = 14; b = 35; c = 4; d = 18; e = 20; f = 1;
package T constant Real a = 2; package L constant Real c = 3*a; function g input Real x;
  output Real y; algorithm y := c*x + a; end g; end L;
function h input Real x; output Real y; algorithm y := L.g(x) + L.c; end h; end T;
package T5 = T(a=5); package TL = T(L(c=1)); package T6 extends T(a=6, L(c=a)); end T6;
model M
  Real a = T.h(time); Real b = T5.h(time); Real c = TL.h(time); Real d = T6.h(time);
    Real e = T5.L.g(time); Real f = TL.L.c*time;
end M;

// case: pk_in_pk
// expect: a = 3000; b = 2700; c = 15; d.y = 2700; e.y = 15; g.y = 3000;
package Water constant Real rho = 1000; end Water; package Oil constant Real rho = 900; end Oil;
package Sys replaceable package Med = Water; constant Real two = 2*Med.rho;
  function f input Real v; output Real m; algorithm m := Med.rho*v + two; end f;
  model W Real y = f(time); end W; end Sys;
package SysO = Sys(redeclare package Med = Oil);
  package Sys5 extends Sys(redeclare package Med = Oil(rho=5)); end Sys5;
model M
  Real a = Sys.f(time); Real b = SysO.f(time); Real c = Sys5.f(time); SysO.W d; Sys5.W e; Sys.W g;
end M;

// case: outer_comp
// expect: s.b.y = 6; s.b.z = 8; t.b.y = 18; t.b.z = 52;
model W constant Real g = 9; parameter Real k = 2; function f input Real u; output Real y;
  algorithm y := u*g; end f; replaceable function q = q0(s=k) constrainedby qp; end W;
partial function qp input Real u; output Real y; end qp; function q0 extends qp; input Real s = 1;
  algorithm y := u*s; end q0; function q1 extends qp; algorithm y := u + 50; end q1;
model B outer W w; Real y = w.f(2*time); Real z = w.q(2*time); end B; model S inner W w(g=3, k=4);
  B b; end S; model S2 inner W w(redeclare function q = q1); B b; end S2;
model M
  S s; S2 t;
end M;

// case: der_pk
// expect: a = 6; b = 20;
package P constant Real k = 3; function f input Real x; input Real c = k; output Real y;
  algorithm y := c*x^2; end f; function fx = der(f, x); end P; package Q = P(k=5);
model M
  Real a = P.fx(time, 3); Real b = Q.fx(2*time, 5);
end M;

// case: redecl_const
// expect: a = 2; b = 4; c = 4;
package P replaceable constant Real k = 2; function f input Real u; output Real y;
  algorithm y := u*k; end f; end P; package Q extends P; redeclare constant Real k = 4; end Q;
model M
  Real a = P.f(time); Real b = Q.f(time); Real c = Q.k*time;
end M;

// case: vector_call
// expect: a[3] = 9; b[2] = 20; b[1] = 4;
package P constant Real k = 3; function f input Real u; output Real y; algorithm y := k*u; end f;
  end P; package Q = P(k=4);
model M
  Real a[3] = P.f({time, 2, 3}); Real b[2] = Q.f({time, 5});
end M;

// case: out_default
// expect: a = 4; b = 7; c = 11; d = 21;
package P constant Real k = 3; function f input Real u; output Real y = k;
  output Real z = 2*k + u; algorithm y := y + u; end f; end P; package Q = P(k=10);
model M
  Real a, b, c, d; equation (a, b) = P.f(time); (c, d) = Q.f(time);
end M;

// case: funarg_pk
// expect: a = 12; b = 28; c = 13; d = 12;
package P constant Real k = 3; partial function pf input Real u; output Real y; end pf;
  function s extends pf; input Real w = k; algorithm y := w*u; end s;
function ap input pf f; input Real u; output Real y; algorithm y := f(u) + f(2*u) + k; end ap;
  end P; package Q = P(k=7);
model M
  Real a = P.ap(function P.s(), time); Real b = Q.ap(function Q.s(), time);
    Real c = Q.ap(function Q.s(w=2), time); Real d = P.ap(P.s, time);
end M;

// case: funarg_comp
// expect: a.y = 9; b.y = 43; c.y = 15;
partial function pf input Real u; output Real y; end pf; function s extends pf; input Real w = 3;
  algorithm y := w*u; end s; function q extends pf; algorithm y := u + 20; end q;
function ap input pf f; input Real u; output Real y; algorithm y := f(u) + f(2*u); end ap;
model A replaceable function g = s constrainedby pf; Real y = ap(g, time); end A;
model M
  A a; A b(redeclare function g = q); A c(redeclare function g = s(w=5));
end M;

// case: import_alias
// expect: a = 8;
package P constant Real k = 2; function f input Real u; output Real y; algorithm y := k*u; end f;
  end P; package Q = P(k=6);
package U import X = Q; import P.f; function g input Real u; output Real y;
  algorithm y := X.f(u) + f(u); end g; end U;
model M
  Real a = U.g(time);
end M;

// case: local_use
// expect: a = 5; b = 15; c = 5; d = 9; e = 17;
function f input Real u; input Real a; input Real b = 2*a; input Real c = a + b; output Real y;
  protected Real d = c*u; algorithm y := d + b; end f; function g = f(a=3); function h = g(b=1);
model M
  Real a = f(time, 1); Real b = g(time); Real c = h(time); Real d = f(time, c=5, a=2);
    Real e = h(time, b=7);
end M;

// case: pk_of_pk
// expect: a = 6; b = 28; c = 36; d = 18;
package P constant Real k = 2; replaceable package I constant Real j = 3; function f input Real u;
  output Real y; algorithm y := u*j; end f; end I; function g input Real u; output Real y;
  algorithm y := I.f(u)*k; end g; end P;
package J constant Real j = 5; function f input Real u; output Real y; algorithm y := u + j;
  end f; end J;
package Q extends P(k=4, redeclare package I = J(j=6)); end Q; package R = Q(I(j=8));
  package S = P(I(j=9));
model M
  Real a = P.g(time); Real b = Q.g(time); Real c = R.g(time); Real d = S.g(time);
end M;

// case: model_fun_const
// expect: x.a.y = 12; x.b.y = 3; x.d.y = 27; x.d.z = 15; y.d.y = 33; z.b.y = 6; z.a.y = 12;
model A constant Real k = 1; parameter Real p = 2; function f input Real u; input Real m = k;
  output Real y; algorithm y := u*m; end f; Real y = f(3*time); Real z = f(3*time, p); end A;
model B A a(k=4); A b; constant Real c = 9; A d(k=c, p=5); end B;
model M
  B x; B y(c=11); B z(b(k=2));
end M;

// case: tuple_fun
// expect: a = 23; b = 56; c = 6;
package P constant Real k = 2; function two input Real u; output Real a; output Real b;
  algorithm a := u*k; b := u + k; end two;
function use input Real u; output Real y; protected Real p; Real q; algorithm (p, q) := two(u);
  y := 10*p + q; end use; function lst input Real u; output Real y; protected Real q;
  algorithm (, q) := two(u); y := q; end lst; end P; package Q = P(k=5);
model M
  Real a = P.use(time); Real b = Q.use(time); Real c = Q.lst(time);
end M;

// case: recursion
// expect: a = 16; b = 27;
package P constant Real k = 2; function f input Integer n; output Real y;
  algorithm y := if n <= 0 then k else f(n - 1)*k; end f; end P; package Q = P(k=3);
model M
  Real a = P.f(3)*time; Real b = Q.f(2)*time;
end M;

// case: recin
// expect: a = 21; b = 71;
package P constant Real k = 2; record R Real a; Real b; end R; function mk input Real u;
  output R r; algorithm r.a := u; r.b := k*u; end mk; function f input R r; output Real y;
  algorithm y := r.a + 10*r.b; end f; function g input Real u; output Real y;
  algorithm y := f(mk(u)); end g; end P; package Q = P(k=7);
model M
  P.R r = P.mk(time); Q.R s = Q.mk(time); Real a = P.f(r); Real b = Q.f(s);
end M;

// case: outer_pkg_via_type
// expect: p.a.x = 2; q.a.x = 8;
package P constant Real k = 2; type L = Real(max=100); model A L x = f(time);
  function f input Real u; output Real y; algorithm y := k*u; end f; end A; model B A a; end B;
  end P; package Q = P(k=8);
model M
  P.B p; Q.B q;
end M;

// case: final_each
// expect: a[1].y = 225;
partial package Base constant Real cp = 1; constant Real T0 = 10; constant Real hot = 4*cp;
replaceable function h input Real T; input Real ref = T0; output Real y;
  algorithm y := cp*(T - ref); end h;
function e input Real T; output Real y; algorithm y := h(T) + hot; end e; end Base;
package MA extends Base(cp=2); end MA;
package MB extends Base(cp=3, T0=20); end MB;
package MC extends MB(cp=5); redeclare function h input Real T; input Real ref = 2*T0;
  output Real y; algorithm y := T*ref; end h; end MC;
model V replaceable package M = MA constrainedby Base; Real y = M.h(100*time);
  Real z = M.e(100*time); Real w = M.h(100*time, 1); end V;
model M
  V a[2](redeclare each package M = MB(final T0=25));
end M;

// case: modif_of_medium_in_component
// expect: a.y = 540;
partial package Base constant Real cp = 1; constant Real T0 = 10; constant Real hot = 4*cp;
replaceable function h input Real T; input Real ref = T0; output Real y;
  algorithm y := cp*(T - ref); end h;
function e input Real T; output Real y; algorithm y := h(T) + hot; end e; end Base;
package MA extends Base(cp=2); end MA;
package MB extends Base(cp=3, T0=20); end MB;
package MC extends MB(cp=5); redeclare function h input Real T; input Real ref = 2*T0;
  output Real y; algorithm y := T*ref; end h; end MC;
model V replaceable package M = MA constrainedby Base; Real y = M.h(100*time);
  Real z = M.e(100*time); Real w = M.h(100*time, 1); end V;
model M
  V a(M(cp=6)); V b(redeclare package M = MB, M.T0 = 3);
end M;

// case: der_annot
// expect: x = 5; v = 10; w = 4;
package P constant Real k = 2; function f input Real u; output Real y; algorithm y := k*u^2;
  annotation(derivative=df); end f; function df input Real u; input Real du; output Real y;
  algorithm y := 2*k*u*du; end df; end P; package Q = P(k=5);
model M
  Real x = Q.f(time); Real v = der(x); Real w = der(z); Real z = P.f(time);
end M;

// case: operator_rec
// refused: operator record C
operator record C Real re; Real im; encapsulated operator function '*' import C; input C a;
  input C b; output C c; algorithm c := C(re=a.re*b.re - a.im*b.im, im=a.re*b.im + a.im*b.re);
  end '*'; end C;
model A constant Real k = 2; function f input Real u; output Real y; algorithm y := k*u; end f;
  C a(re=f(time), im=1); C b = a*a; end A;
model M
  A x; A y(k=3);
end M;

// case: shadow
// expect: a = 114; b = 26; c = 15; d = 35; e = 9; f = 17; g = 18; h = 108;
package P constant Real k = 3; constant Real n = -2;
function f input Real k; output Real y; algorithm y := 10*k + n^2; end f;
function g input Real u; output Real y; protected Real n = 5*u; algorithm y := k*n; end g;
function h input Real u; input Real v = k; output Real y; algorithm y := 0;
  for k in 1:2 loop y := y + k*u + v; end for; end h;
function i input Real u; output Real y; algorithm y := -n + u*n - n^3 + (-n)^2 - n*k; end i;
  end P; package Q = P(k=7, n=-4);
model M
  Real k = 100*time; Real a = P.f(time) + k; Real b = Q.f(time); Real c = P.g(time);
    Real d = Q.g(time); Real e = P.h(time); Real f = Q.h(time); Real g = P.i(time);
    Real h = Q.i(time);
end M;

// case: shadow_direct
// expect: a = 114; c = 15; e = 9; g = 18; n = -200;
package P constant Real k = 3; constant Real n = -2;
function f input Real k; output Real y; algorithm y := 10*k + n^2; end f;
function g input Real u; output Real y; protected Real n = 5*u; algorithm y := k*n; end g;
function h input Real u; input Real v = k; output Real y; algorithm y := 0;
  for k in 1:2 loop y := y + k*u + v; end for; end h;
function i input Real u; output Real y; algorithm y := -n + u*n - n^3 + (-n)^2 - n*k; end i;
  end P; package Q = P(k=7, n=-4);
model M
  Real k = 100*time; Real a = P.f(time) + k; Real c = P.g(time); Real e = P.h(time);
    Real g = P.i(time); Real n = P.n*k;
end M;

// case: same_names
// expect: a = 1001; b = 2; c = 11; d = 13; e = 55; g = 2;
package A constant Real k = 2; function f input Real u; output Real y; algorithm y := k*u; end f;
package B constant Real k = 5; function f input Real u; output Real y;
  algorithm y := k*u + .A.f(u) + A.f(2*u); end f; function g input Real u; output Real y;
  algorithm y := f(u)*k; end g; end B;
function g input Real u; output Real y; algorithm y := f(u) + B.f(u); end g; end A;
package C function f input Real u; output Real y; algorithm y := u - 1; end f; end C;
model M
  function f input Real u; output Real y; algorithm y := u + 1000; end f; Real a = f(time);
    Real b = A.f(time); Real c = A.B.f(time); Real d = A.g(time); Real e = A.B.g(time);
    Real g = C.f(3*time);
end M;

// case: same_names_copy
// expect: a = 3; b = 13; c = 16; d = 13;
package A constant Real k = 2; function f input Real u; output Real y; algorithm y := k*u; end f;
package B constant Real k = 5; function f input Real u; output Real y;
  algorithm y := k*u + .A.f(u) + A.f(2*u); end f; function g input Real u; output Real y;
  algorithm y := f(u)*k; end g; end B;
function g input Real u; output Real y; algorithm y := f(u) + B.f(u); end g; end A;
package C function f input Real u; output Real y; algorithm y := u - 1; end f; end C;
package A3 = A(k=3, B(k=7));
model M
  Real a = A3.f(time); Real b = A3.B.f(time); Real c = A3.g(time); Real d = A.g(time);
end M;

// case: imports
// expect: a = 18; b = 68; c = 6;
package P constant Real k = 3; constant Real j = 4*k; function f input Real u; output Real y;
  algorithm y := k*u; end f; end P;
package U import P.k; import P.*; function g input Real u; output Real y;
  algorithm y := k*u + j + f(u); end g; end U; package W import P.{j, f}; import Z = P.k;
  constant Real k = 50; function g input Real u; output Real y; algorithm y := j + Z + k + f(u);
  end g; end W;
model M
  import P.f; Real a = U.g(time); Real b = W.g(time); Real c = f(2*time);
end M;

// case: rec_ctor
// expect: a = 3; b = 9; c = 18; d = 17; e = 3; g = 9;
package P constant Real k = 2; record R Real a = k; Real b = 10; end R; record R2 extends R(a=5);
  Real c = 1; end R2;
function f input R r; output Real y; algorithm y := r.a + r.b; end f; function f2 input R2 r;
  input Real w = k; output Real y; algorithm y := r.a + r.b + r.c + w; end f2;
  function mk input Real u; output Real y; protected R r; algorithm r.a := u; r.b := k; y := f(r);
  end mk; end P; package Q = P(k=8);
model M
  P.R r(b=time); Q.R s(b=time); P.R2 t; Q.R2 u(b=3); Real a = P.f(r); Real b = Q.f(s);
    Real c = P.f2(t); Real d = Q.f2(u); Real e = P.mk(time); Real g = Q.mk(time);
end M;

// case: rec_ctor_call
// expect: a = 301; b = 208; c = 402; d = 1001;
package P constant Real k = 2; record R Real a = k; Real b = 10; end R; function f input R r;
  output Real y; algorithm y := r.a + 100*r.b; end f; end P; package Q = P(k=8);
model M
  Real a = P.f(P.R(a=time, b=3)); Real b = Q.f(Q.R(b=2*time)); Real c = P.f(P.R(b=4*time));
    Real d = P.f(P.R(time));
end M;

// case: cond_const
// expect: a = 15; b = 16; c = 5; d = 4;
package P constant Integer n = 2; constant Real k = if n > 2 then 4 else 5;
  constant Real w[n] = fill(k, n); function f input Real u; output Real y;
  algorithm y := sum(w)*u + k; end f; end P; package Q = P(n=3);
model M
  Real a = P.f(time); Real b = Q.f(time); Real c = P.k; Real d = Q.k;
end M;

// case: size_const
// expect: a = 7; b = 15;
package P constant Real w[:] = {1, 2}; constant Integer n = size(w, 1);
  function f input Real x[n]; output Real y; algorithm y := x*w + n; end f; end P;
  package Q = P(w={3, 4, 5});
model M
  Real a = P.f({time, 2}); Real b = Q.f({time, 1, 1});
end M;

// case: matrix
// expect: a[2] = 15; a[1] = 6; b[2] = 6; c[3] = 15; c[1] = 9; d[1] = 5; e = 8;
package P constant Real A[2,3] = {{1,2,3},{4,5,6}}; function f input Real x[3]; output Real y[2];
  algorithm for i in 1:size(A,1) loop y[i] := 0;
  for j in 1:size(A,2) loop y[i] := y[i] + A[i,j]*x[j]; end for; end for; end f;
  function g input Real x[2]; output Real y[3]; algorithm y := transpose(A)*x; end g; end P;
  package Q = P(A=[1,1,1;2,2,2]);
model M
  Real a[2] = P.f({time,1,1}); Real b[2] = Q.f({time,1,1}); Real c[3] = P.g({time,2});
    Real d[3] = Q.g({time,2}); Real e = P.A[2,3]*time + Q.A[2,1];
end M;

// case: chain_outer
// expect: a = 4; b = 9; c = 84; d = 189; e = 18;
package T constant Real y = 4; package B constant Real x = 1; function f input Real u;
  output Real z; algorithm z := x*u; end f; end B; package A = B(x=y); package A2 = A(x=2*y);
  function g input Real u; output Real z; algorithm z := A.f(u) + 10*A2.f(u); end g; end T;
  package T9 = T(y=9);
model M
  Real a = T.A.f(time); Real b = T9.A.f(time); Real c = T.g(time); Real d = T9.g(time);
    Real e = T9.A2.x*time;
end M;

// case: constr_pkg
// expect: a.y = 810; b.y = 720; c.y = 320;
partial package Base constant Real cp = 1; constant Real T0 = 10; constant Real hot = 4*cp;
replaceable function h input Real T; input Real ref = T0; output Real y;
  algorithm y := cp*(T - ref); end h;
function e input Real T; output Real y; algorithm y := h(T) + hot; end e; end Base;
package MA extends Base(cp=2); end MA;
package MB extends Base(cp=3, T0=20); end MB;
package MC extends MB(cp=5); redeclare function h input Real T; input Real ref = 2*T0;
  output Real y; algorithm y := T*ref; end h; end MC;
model V replaceable package M = MA constrainedby Base; Real y = M.h(100*time);
  Real z = M.e(100*time); Real w = M.h(100*time, 1); end V;
model V9 replaceable package M = MA constrainedby Base(cp=9); Real y = M.h(100*time); end V9;
model M
  V9 a; V9 b(redeclare package M = MB); V9 c(redeclare package M = MB(cp=4));
end M;

// case: pk_redecl2
// expect: a = 208; b = 282; c = 470;
partial package Base constant Real cp = 1; constant Real T0 = 10; constant Real hot = 4*cp;
replaceable function h input Real T; input Real ref = T0; output Real y;
  algorithm y := cp*(T - ref); end h;
function e input Real T; output Real y; algorithm y := h(T) + hot; end e; end Base;
package MA extends Base(cp=2); end MA;
package MB extends Base(cp=3, T0=20); end MB;
package MC extends MB(cp=5); redeclare function h input Real T; input Real ref = 2*T0;
  output Real y; algorithm y := T*ref; end h; end MC;
model V replaceable package M = MA constrainedby Base; Real y = M.h(100*time);
  Real z = M.e(100*time); Real w = M.h(100*time, 1); end V;
package Sys replaceable package M = MA constrainedby Base; constant Real q = M.cp*10;
  function f input Real T; output Real y; algorithm y := M.e(T) + q; end f; end Sys;
  package Sys2 extends Sys(redeclare replaceable package M = MB); end Sys2;
  package Sys3 extends Sys2(redeclare package M = MC(T0=2)); end Sys3;
model M
  Real a = Sys.f(100*time); Real b = Sys2.f(100*time); Real c = Sys3.f(100*time);
end M;

// case: two_ext
// expect: a = 9; b = 25;
partial package B constant Real k = 1; function f input Real u; output Real y; algorithm y := k*u;
  end f; end B; partial package B2 constant Real j = 1; function g input Real u; output Real y;
  algorithm y := j + u; end g; end B2;
package X extends B(k=4); extends B2(j=k); function h input Real u; output Real y;
  algorithm y := f(u) + g(u); end h; end X; package Y = X(j=20);
model M
  Real a = X.h(time); Real b = Y.h(time);
end M;

// case: cond_comp
// expect: v.a.y = 2; v.z = 1; w.z = 3;
package P constant Boolean on = true; constant Real k = 2; model A Real y = k*time; end A; end P;
  package Q = P(on=false, k=3); model V replaceable package M = P; M.A a if M.on;
  Real z = if M.on then 1 else M.k; end V;
model M
  V v; V w(redeclare package M = Q);
end M;

// case: for_eq
// expect: a.s = 12; b.s = 30; b.x[2] = 16;
package P constant Integer n = 3; constant Real w[n] = {1,2,3}; function f input Real u;
  input Integer i; output Real y; algorithm y := u*w[i]; end f; model A Real x[n]; Real s;
  equation for i in 1:n loop x[i] = f(time, i) + w[i]; end for; s = sum(x); end A; end P;
  package Q = P(n=2, w={7,8});
model M
  P.A a; Q.A b;
end M;

// case: alg_model
// refused: function-call output
package P constant Real k = 3; function two input Real u; output Real a; output Real b;
  algorithm a := k*u; b := k + u; end two; model A Real y; Real p; Real q;
  algorithm (p, q) := two(time); y := p + 10*q; if k > 4 then y := -y; end if; end A; end P;
  package Q = P(k=5);
model M
  P.A a; Q.A b;
end M;

// case: starts
// expect: a.x = 18; b.x = 50; a.q = 3; b.q = 5; c.x = 5;
package P constant Real k = 3; function f input Real u; output Real y; algorithm y := k*u; end f;
  model A parameter Real p = f(2); Real x(start=f(p), fixed=true); parameter Real q = k;
  equation der(x) = 0; end A; end P; package Q = P(k=5);
model M
  P.A a; Q.A b; Q.A c(p=1);
end M;

// case: mod_scope
// expect: x.a.y = 5; x.b.y = 3; x.c.y = 5; x.d.y = 10;
package P constant Real k = 3; end P; package Q constant Real k = 5; end Q;
  model A replaceable package M = P; parameter Real p = M.k; Real y = p*time; end A;
  model B package M = Q; A a(p=M.k); A b; A c(redeclare package M = M);
  A d(redeclare package M = Q, p=2*M.k); end B;
model M
  B x;
end M;

// case: types
// refused: unresolved component dimension
package P constant Integer n = 2; constant Real top = 10; type V = Real[n]; function f input V x;
  output Real y; algorithm y := sum(x)*top; end f; model A V x = fill(time, n); Real y = f(x);
  end A; end P; package Q = P(n=4, top=1);
model M
  P.A a; Q.A b;
end M;

// case: redecl_more
// expect: a.y = 1; b.y = 19; c.y = 4; d.y = 31; e.y = 8;
partial function pf input Real u; output Real y; end pf; function f0 extends pf; algorithm y := u;
  end f0;
package P constant Real k = 6; function f2 extends pf; input Real a = k; input Real b = 2*a;
  algorithm y := u + a + b; end f2; end P; package Q = P(k=1);
model A replaceable function f = f0 constrainedby pf; Real y = f(time); end A;
model M
  A a; A b(redeclare function f = P.f2); A c(redeclare function f = Q.f2);
    A d(redeclare function f = Q.f2(a=10)); A e(redeclare function f = P.f2(b=1));
end M;

// case: world
// expect: a.b.a = 9.5; b.b.a = 3; c.b.a = 5; d.b.a = 3;
partial function pg input Real r; output Real a; end pg; function gc extends pg; input Real g = 9;
  input Real s = 1; algorithm a := g*s; end gc; function gp extends pg; input Real mu = 4;
  algorithm a := mu/r^2; end gp;
model World parameter Real g = 9.5; parameter Real mu = 8;
  replaceable function grav = gc(g=g) constrainedby pg; end World; model Body outer World world;
  Real a = world.grav(2*time); end Body;
model WP extends World(redeclare function grav = gp(mu=mu)); end WP; model S inner World world;
  Body b; end S; model S2 inner World world(g=3); Body b; end S2; model S3 inner WP world(mu=20);
  Body b; end S3; model S4 inner World world(redeclare function grav = gp(mu=12)); Body b; end S4;
model M
  S a; S2 b; S3 c; S4 d;
end M;

// case: class_local
// expect: a.i.y = 2; a.j.y = 5; b.i.y = 7; b.j.y = 5; c.i.y = 8; c.j.y = 5;
model A model In constant Real c = 2; function f input Real u; output Real y; algorithm y := c*u;
  end f; Real y = f(time); end In; In i; In j(c=5); end A; model B extends A(In(c=7)); end B;
  model C extends A(i(c=8)); end C;
model M
  A a; B b; C c;
end M;

// case: ext_fun_alg
// refused: missing function value definition
partial function b input Real u; output Real y; protected Real t = 2; constant Real q = 3; end b;
  function f extends b; algorithm y := u*t*q; end f; function g extends b(t=5);
  algorithm y := u*t*q; end g; function h extends b(q=7, t=q); algorithm y := u*t*q; end h;
  function i extends f(t=4); end i; function j extends i; input Real m = 3; end j;
model M
  Real a = f(time); Real b1 = g(time); Real c = h(time); Real d = i(time); Real e = j(time, 5);
end M;

// case: ext_fun_pk
// expect: a = 4; b = 20; c = 109; d = 101;
package P constant Real k = 2; partial function b input Real u; input Real w = k; output Real y;
  end b; function f extends b; algorithm y := u*w + k; end f; end P; package Q = P(k=10);
  package R constant Real k = 99; function f extends Q.b; algorithm y := u*w + k; end f;
  function g extends P.f(w=k); end g; end R;
model M
  Real a = P.f(time); Real b = Q.f(time); Real c = R.f(time); Real d = R.g(time);
end M;

// case: nested_apply
// expect: a = 12; b = 6; c = 10; d = 26;
package P constant Real k = 3; partial function pf input Real u; output Real y; end pf;
  function s extends pf; input Real w = k; input Real o = 0; algorithm y := w*u + o; end s;
function ap input pf f; input Real u; output Real y; algorithm y := f(f(u)); end ap;
  function ap2 input pf g; input Real u; output Real y; algorithm y := ap(g, u) + g(1); end ap2;
  end P; package Q = P(k=2);
model M
  Real a = P.ap2(P.s, time); Real b = Q.ap2(Q.s, time);
    Real c = P.ap2(function P.s(w=2, o=1), time); Real d = Q.ap2(function Q.s(o=5), time);
end M;

// case: fun_in_param
// expect: a.y = 6; b.y = 8; c[1].y = 3; c[2].y = 4; z = 12;
package P constant Real k = 3; function f input Real u; output Real y; algorithm y := k*u; end f;
  end P; package Q = P(k=4); model A parameter Real p = 1; Real y = p*time; end A;
model M
  A a(p=P.f(2)); A b(p=Q.f(2)); A c[2](p={P.k, Q.k}); parameter Real z = Q.f(P.k);
end M;

// case: whole_rec_const
// expect: a = 4; c = 12; d = 4;
package P record D Real a; Real b[2]; end D; constant D d = D(a=1, b={2,3}); function f input D x;
  output Real y; algorithm y := x.a + x.b[2]; end f; function g input Real u; output Real y;
  algorithm y := u*f(d); end g; end P; package Q = P(d(a=10)); package R = P(d=P.D(a=5, b={6,7}));
model M
  Real a = P.g(time); Real c = R.g(time); Real d = P.f(P.d)*time;
end M;

// case: if_rec
// expect: a = 1; b = 2;
package P constant Integer sel = 1; function fa input Real u; output Real y; algorithm y := u;
  end fa; function fb input Real u; output Real y; algorithm y := 2*u; end fb;
  function f input Real u; output Real y; algorithm y := if sel == 1 then fa(u) else fb(u); end f;
  end P; package Q = P(sel=2);
model M
  Real a = P.f(time); Real b = Q.f(time);
end M;

// case: dots
// expect: a.y = 3; a.z = 7; b.y = 3; b.z = 7;
package L package P constant Real k = 2; function f input Real u; output Real y;
  algorithm y := k*u; end f; end P; package Q = P(k=3); model A Real y = .L.Q.f(time);
  Real z = L.P.f(time) + Q.k + .L.P.k; end A; end L; package L2 = L;
model M
  L.A a; L2.A b;
end M;

// case: global_copy
// expect: a.y = 2; a.z = 2; b.y = 8; b.z = 2;
package L package P constant Real k = 2; function f input Real u; output Real y;
  algorithm y := k*u; end f; end P; model A Real y = P.f(time); Real z = .L.P.f(time); end A;
  end L; package L2 = L(P(k=8));
model M
  L.A a; L2.A b;
end M;

// case: rec_arr_const
// expect: a = 9; b = 11; c = 22; d = 90; e = 220; f[2] = 4;
package P record D Real a; Real b; end D; constant D d[3] = {D(a=1,b=2), D(a=3,b=4), D(a=5,b=6)};
  constant Integer i = 2; function f input Real u; output Real y;
  algorithm y := u*d[i].a + d[3].b; end f; function g input Real u; output Real y;
  algorithm y := 0; for j in 1:3 loop y := y + d[j].a*u*j; end for; end g; end P;
  package Q = P(i=3); package R = P(d={P.D(a=10,b=20),P.D(a=30,b=40),P.D(a=50,b=60)});
model M
  Real a = P.f(time); Real b = Q.f(time); Real c = P.g(time); Real d = R.f(time);
    Real e = R.g(time); Real f[3] = {P.d[j].b*time for j in 1:3};
end M;

// case: rec_idx_fun
// expect: a = 14; b = 32; c = 58; d = 76;
package P record D Real a; Real b; end D; constant D d[2] = {D(a=1,b=2), D(a=3,b=4)};
  function pick input Integer i; output Real y; algorithm y := d[i].a*10 + d[3 - i].b; end pick;
  end P; package Q = P(d={P.D(a=5,b=6), P.D(a=7,b=8)});
model M
  Real a = P.pick(1)*time; Real b = P.pick(2)*time; Real c = Q.pick(1)*time;
    Real d = Q.pick(2)*time;
end M;

// case: cext
// expect: ma.x = 1; m.x = 1; m.y = 2; z = 52;
model A replaceable model M Real x = 1; end M; replaceable partial function F input Real x;
  output Real y; end F; M ma; end A;
model M
  extends A; model extends M Real y = 2*time; end M; function extends F algorithm y := x*26; end F;
    M m; Real z = F(2*time);
end M;

// case: cext_chain
// expect: m.x = 1; m.y = 2; m.z = 3; n.y = 2; b.n.x = 1;
model A replaceable model M Real x = 1; end M; end A; model B extends A;
  replaceable model extends M Real y = 2; end M; M n; end B;
model M
  extends B; model extends M Real z = 3*time; end M; M m; B b;
end M;

// case: cext_pkg
// expect: a = 7; b = 10; c = 5; d = 5;
package A replaceable function f input Real u; output Real y; protected Real k = 2;
  algorithm y := k*u; end f; function g input Real u; output Real y; algorithm y := f(u); end g;
  end A; package B extends A; function extends f(k=5) end f; function h input Real u;
  output Real y; algorithm y := f(u) + g(u); end h; end B; package C extends A;
  redeclare function extends f(k=5) end f; function h input Real u; output Real y;
  algorithm y := f(u) + g(u); end h; end C;
model M
  Real a = B.h(time); Real b = C.h(time); Real c = B.f(time); Real d = C.g(time);
end M;

// case: cext_bad
// refused: cannot read model
model A replaceable model M Real x = 1; end M; M ma; end A;
model M
  extends A; model extends M Real y = 2; end M; Real y = ma.y;
end M;

// case: cext_none
// refused: M\.mo:4: 'M' extends no inherited class that is replaceable
model A Real x = 1; end A;
model M
  extends A; model extends M Real y = 2; end M; M m;
end M;

// case: loops_named_as_constants
// expect: a.x[1] = 1; a.x[2] = 2; a.x[3] = 3; a.y[1,1] = 11; a.y[2,2] = 22; a.z[3] = 3; a.w[3] = 30;
// expect: a.c[2] = 2; a.e = 5; a.d[1] = -1; a.d[2] = 2; b.x[2] = 2; b.e = 5; x[2] = 2;
// expect: a.s[1] = 2; a.s[3] = 6;
package P constant Integer i = 5; constant Integer j = 2; constant Real v[3] = {10, 20, 30};
function f input Real u; input Real c = 1; output Real y; algorithm y := c*u; end f;
model A Real x[3]; Real y[2, 2]; Real z[3]; Real w[3]; Real c[3] = {f(time, i) for i in 1:3};
  Real d[3]; Real s[3]; Real e = f(time, i);
initial equation for i in 1:3 loop s[i] = f(2, i); end for;
equation
  for i in 1:3 loop x[i] = f(time, i); w[i] = f(time, v[i]); der(s[i]) = -f(s[i], i); end for;
  for i in 1:2 loop for j in 1:2 loop y[i, j] = f(time, i + 10*j); end for; end for;
  for i in 1:3 loop if i > 1 then d[i] = f(time, i); else d[i] = f(time, -i); end if; end for;
algorithm
  for i in 1:3 loop z[i] := f(time, i); end for;
end A; end P;
model M P.A a; P.A b; import P.i; import P.f; Real x[3];
equation for i in 1:3 loop x[i] = f(time, i); end for; end M;

// case: loops_named_as_constants_of_packages_that_differ
// expect: a.x[1] = 4; a.x[3] = 6; b.x[1] = 3; b.x[2] = 4; a.z = 6; b.z = 3;
package P constant Integer i = 3;
function f input Real u; input Real c = 1; output Real y; algorithm y := c*u; end f; end P;
package P2 extends P(i=2); end P2;
model A replaceable package Q = P; Real x[Q.i]; Real z = sum({i*time for i in 1:Q.i});
equation for i in 1:Q.i loop x[i] = Q.f(time, i + Q.i); end for; end A;
model M A a; A b(redeclare package Q = P2); end M;

// case: ranges_of_loops_named_as_constants
// expect: y = 27; z = 15; p = 6; q = 3; a.x[1] = 2; a.x[3] = 6;
package P constant Integer i = 3; constant Integer j = 2;
function f input Real u; output Real y; algorithm y := 0;
  for i in 1:i loop for j in 1:j loop y := y + i*j*u; end for; y := y + j; end for; y := y + i;
  end f;
function g input Real u; output Real y; algorithm y := sum({i*u for i in 1:i}); end g;
model A replaceable package Q = P; Real x[3]; Real k = Q.g(1);
equation for i in 1:i loop x[i] = 2*i*time; end for; end A; end P;
package P2 extends P(i=2); end P2;
model M Real y = P.f(time); Real z = P2.f(time); Real p = P.g(time); Real q = P2.g(time);
P.A a; end M;

// case: locals_named_as_constants
// expect: a = 2; b = 6; c = 11; d = 9; e = 6; f = 4; g = 3; p = 5; q = 10;
package P constant Real k = 5; constant Integer i = 5; constant Real u = 7; constant Integer n = 5;
function shadow input Real x; output Real y; protected Real k = 2*x; algorithm y := k*x; end shadow;
function loop1 input Real x; output Real y; algorithm y := 0; for i in 1:3 loop y := y + i*x;
  end for; end loop1;
function inside input Real x; output Real y; algorithm y := sum({i*x for i in 1:3}) + i;
  end inside;
function given input Real u; output Real y; algorithm y := u^2; end given;
function counted input Real x; output Real y; protected Integer n = 0; algorithm y := 0;
  while n < 3 loop n := n + 1; y := y + n*x; end while; end counted;
function gain input Real x; input Real k = 1; output Real y; algorithm y := k*x; end gain;
model A parameter Real k = 3; Real x = gain(time, k); end A; end P;
model M Real a = P.shadow(time); Real b = P.loop1(time); Real c = P.inside(time);
Real d = P.given(3*time); Real e = P.counted(time); P.A s; P.A t(k=4); Real f = t.x; Real g = s.x;
Real u = time; Real p = P.gain(u, k=P.k); Real q = P.gain(k=P.k, x=2*u); end M;

// case: modifications_by_outer_components
// expect: a.b.y = 8; a.b.k = 4; a.k = 4; c.b.y = 13; c.b.k = 9; a.d.y = 12; a.d.z = 24;
model W parameter Real g = 1; Real h = 3*g*time; end W;
model B parameter Real k = 1; Real y = 2; end B; model D extends B; Real z = 2*y; end D;
model A outer W w; parameter Real k = w.g; B b(k=w.g, y=k + b.k);
replaceable B d(y=w.h); end A;
model M inner W w(g=4); A a(redeclare D d); A c(b(k=9)); end M;

// case: media_with_records_and_constant_arrays
// expect: a.y = 53; a.z = 43; b.y = -11; b.z = -12; a.s.T = 20; b.s.T = 30;
partial package Base constant Real k = 1; constant Real v[2] = {k, 2*k};
record S Real p; Real T = 10*k;
end S;
replaceable partial function h input S s; output Real y;
end h;
replaceable function d input Real u; output Real y; algorithm y := v[1]*u + v[2];
end d;
function both input S s; output Real y; algorithm y := h(s) + d(s.p);
end both;
end Base;
package A extends Base(k=2);
redeclare function extends h algorithm y := s.p + k*s.T;
end h;
end A;
package B extends Base(k=3);
redeclare function extends h algorithm y := s.p*v[2] - s.T;
end h;
redeclare function d input Real u; output Real y; algorithm y := u/k;
end d;
end B;
model U replaceable package M = A constrainedby Base; M.S s(p=3*time); Real y = M.both(s); Real z
  = M.h(s);
end U;
model M U a; U b(redeclare package M=B);
end M;

// case: constant_array_of_an_extended_medium
// expect: z = 64;
partial package Base constant Real k = 1; constant Real v[2] = {k, 2*k};
record S Real p; Real T = 10*k;
end S;
replaceable partial function h input S s; output Real y;
end h;
replaceable function d input Real u; output Real y; algorithm y := v[1]*u + v[2];
end d;
function both input S s; output Real y; algorithm y := h(s) + d(s.p);
end both;
end Base;
package A extends Base(k=2);
redeclare function extends h algorithm y := s.p + k*s.T;
end h;
end A;
package B extends Base(k=3);
redeclare function extends h algorithm y := s.p*v[2] - s.T;
end h;
redeclare function d input Real u; output Real y; algorithm y := u/k;
end d;
end B;
package A6 extends A(v={7,8});
end A6;
model M A6.S t(p=2); Real z=A6.both(t)*time;
end M;

// case: copies_of_packages_with_packages
// expect: a = 8; b = 20; c = 28;
package O constant Real g=2;
package I constant Real h=3*g;
function f input Real u; output Real y; algorithm y:=h*u+g;
end f;
end I;
end O;
package O2 extends O(g=5);
end O2;
package O3=O(g=7);
model M Real a=O.I.f(time); Real b=O2.I.f(time); Real c=O3.I.f(time);
end M;

// case: a_redeclared_package_within_a_copy
// expect: a = 6; b = 25;
package O constant Real g=2;
replaceable package I constant Real h=3;
function f input Real u; output Real y; algorithm y:=h*u;
end f;
end I;
function q input Real u; output Real y; algorithm y:=g*I.f(u);
end q;
end O;
package O2 extends O(g=5, redeclare package I=N);
end O2;
package N constant Real h=4;
function f input Real u; output Real y; algorithm y:=h*u+1;
end f;
end N;
model M Real a=O.q(time); Real b=O2.q(time);
end M;

// case: partial_applications_of_functions_of_copies
// expect: a = 14; b = 11; c = 23;
package P constant Real k=2;
partial function F input Real u; output Real y;
end F;
function w extends F; input Real c=k; input Real d=1; algorithm y:=c*u+d;
end w;
function ap input F f; input Real u; output Real y; algorithm y:=f(u)+f(2*u);
end ap;
end P;
package P3 extends P(k=3);
end P3;
model M Real a=P.ap(function P.w(d=4),time); Real b=P3.ap(function P3.w(d=time),time); Real
  c=P.ap(function P.w(c=7),time);
end M;

// case: two_levels_of_redeclared_models
// expect: a.q.k.y = 1; b.q.k.y = 12; c.q.k.y = 15; d.q.k.y = 16;
model L replaceable model K=K1; K k;
end L;
model K1 parameter Real c=1; Real y=c*time;
end K1;
model K2 parameter Real c=2; Real y=c*time+10;
end K2;
model N replaceable model Q=L; Q q;
end N;
model L2 extends L(redeclare model K=K2(c=5));
end L2;
model M N a; N b(redeclare model Q=L(redeclare model K=K2)); N c(redeclare model Q=L2); N
  d(redeclare model Q=L2(k(c=6)));
end M;

// case: inner_components_of_redeclared_classes
// expect: a.u.z = 2; b.u.z = 18; c.u.z = 8;
model E replaceable function g=g1; parameter Real s=1; Real y=s*g(time);
end E;
function g1 input Real u; output Real y; algorithm y:=u;
end g1;
function g2 input Real u; output Real y; algorithm y:=5*u;
end g2;
model U outer E e; Real z=e.y+e.s;
end U;
model S inner replaceable E e; U u;
end S;
model E2 extends E(redeclare function g=g2, s=3); Real extra=1;
end E2;
model M S a; S b(redeclare E2 e); S c(e(s=4));
end M;

// case: inner_classes_of_several_levels
// expect: s.u.z = 1; s.own.b = 3; t.u.z = 9;
model X Real a=time;
end X;
model Y extends X; parameter Real q=2; Real b=q*a;
end Y;
model U outer model K=X; K k; Real z=k.a;
end U;
model S inner model K=Y(q=3); U u; K own;
end S;
model T inner model K=X(a=9*time); U u;
end T;
model M S s; T t;
end M;

// case: inner_functions_with_defaults
// expect: s.u.y = 2; t.u.y = 8; t.s.u.y = 2;
partial function F input Real u; output Real y;
end F;
function f1 extends F; algorithm y:=2*u;
end f1;
function f2 extends F; input Real c=6; algorithm y:=c*u;
end f2;
model U outer function f=F; Real y=f(time);
end U;
model S inner function f=f1; U u;
end S;
model T inner function f=f2(c=8); U u; S s;
end T;
model M S s; T t;
end M;

// case: defaults_through_extends_and_short_classes
// expect: a = 3; b = 9; c = 13; d = 15;
function f input Real u; input Real k=1; input Real m=2*k; output Real y; algorithm y:=k*u+m;
end f;
function g=f(k=3);
function h extends g(m=10);
end h;
function q=h(k=5);
model M Real a=f(time); Real b=g(time); Real c=h(time); Real d=q(time);
end M;

// case: redeclared_components_with_redeclared_functions
// expect: a.z = 2; b.z = 7; c.z = 8;
partial model I Real y;
end I;
model Lin extends I;
replaceable function f=id; parameter Real c=1; equation y=c*f(time);
end Lin;
function id input Real u; output Real y; algorithm y:=u;
end id;
function dbl input Real u; input Real n=2; output Real y; algorithm y:=n*u;
end dbl;
model S replaceable I i constrainedby I; Real z=i.y+1;
end S;
model M S a(redeclare Lin i); S b(redeclare Lin i(c=3,redeclare function f=dbl)); S c(redeclare
  Lin i(redeclare function f=dbl(n=7)));
end M;

// case: calculated_record_calc_default
// expect: y = 6; z = 3;
package P
record R Real a=1; Real b=2*a; end R;
constant R r(a=3);
model M Real y=r.b*time; Real z=r.a*time; end M; end P;
model M extends P.M; end M;

// case: calculated_record_calc_ctor_positional
// expect: y = 8; z = 12;
package P
record R Real a=1; Real b=2*a; Real c=a+b; end R;
constant R r=R(4);
model M Real y=r.b*time; Real z=r.c*time; end M; end P;
model M extends P.M; end M;

// case: calculated_record_calc_final
// expect: y = 8; z = 7; w = 15;
package P
record R Real a=1; final Real b=2*a; Real c=a+b; end R;
constant R r=R(4,c=7); constant R q(a=5);
model M Real y=r.b*time; Real z=r.c*time; Real w=q.c*time; end M; end P;
model M extends P.M; end M;

// case: calculated_record_two_levels_ctor
// expect: y = 36; z = 37; w = 26; v = 1;
package P
record In Real k=1; Real s=k*k; end In;
record R Real a=1; In i(k=2*a); Real t=i.s+1; end R;
constant R r=R(a=3); constant R q=R(i=In(k=5));
model M Real y=r.i.s*time; Real z=r.t*time; Real w=q.t*time; Real v=q.a*time; end M; end P;
model M extends P.M; end M;

// case: calculated_record_modified_on_way
// expect: y = 14; z = 18; w = 2;
package P
package Base record R Real a=1; Real b=2*a; end R; constant Real k=1; constant R r(a=k); end Base;
package D=Base(k=7);
package E extends Base(k=9); end E;
model M Real y=D.r.b*time; Real z=E.r.b*time; Real w=Base.r.b*time; end M; end P;
model M extends P.M; end M;

// case: calculated_record_mod_const_record
// expect: y = 10; z = 11; w = 4; v = 2;
package P
package Base record R Real a=1; Real b=2*a; end R; constant R r(a=2); function f input Real u; output Real y; algorithm y:=u*r.b; end f; end Base;
package D=Base(r(a=5));
package E=Base(r(b=11));
model M Real y=D.f(time); Real z=E.f(time); Real w=Base.f(time); Real v=E.r.a*time; end M; end P;
model M extends P.M; end M;

// case: calculated_record_arr_each
// expect: y[1] = 2; y[2] = 4; y[3] = 8; z = 4;
package P
record R Real a=1; Real b=2*a; end R;
constant R r[3](a={1,2,4});
model M Real y[3]; Real z=r[2].b*time; equation for i in 1:3 loop y[i]=r[i].b*time; end for; end M; end P;
model M extends P.M; end M;

// case: calculated_record_nested_index
// expect: y = 30; z = 21; s = 6;
package P
record In Real k; Real m=10*k; end In;
record R In i[2]; Real c=i[1].k+i[2].m; end R;
constant R r[2]={R(i={In(k=1),In(k=2)}),R(i={In(k=3),In(k=4)})};
model M Real y=r[2].i[1].m*time; Real z=r[1].c*time; Real s=sum(r[j].i[2].k for j in 1:2)*time; end M; end P;
model M extends P.M; end M;

// case: calculated_record_nested_calc_index
// expect: y[1,2] = 2; y[2,1] = 3;
package P
record In Real k; end In;
record R In i[2]; end R;
constant R r[2]={R(i={In(k=1),In(k=2)}),R(i={In(k=3),In(k=4)})};
model M Real y[2,2]; equation for a in 1:2 loop for b in 1:2 loop y[a,b]=r[a].i[b].k*time; end for; end for; end M; end P;
model M extends P.M; end M;

// case: calculated_record_func_calc_index
// expect: y = 10; z = 2;
package P
record In Real k; Real w[2]={k,2*k}; end In;
constant In r[3]={In(k=1),In(k=2),In(k=5)};
function f input Real u; input Integer j; output Real y; algorithm y:=u*r[j].w[2]; end f;
model M Real y=f(time,3); Real z=f(time,1); end M; end P;
model M extends P.M; end M;

// case: calculated_record_media_two
// expect: y = 12; z = 6; w = 2;
package P
record D Real M=1; Real R=8/M; Real cp=3*R; end D;
partial package Med constant D data; function h input Real T; output Real h; algorithm h:=data.cp*T; end h; end Med;
package A extends Med(data(M=2)); end A;
package B extends Med(data=D(M=4)); end B;
model C replaceable package Medium=A; Real h=Medium.h(time); end C;
model M C a; C b(redeclare package Medium=B); Real y=a.h; Real z=b.h; Real w=B.data.R*time; end M; end P;
model M extends P.M; end M;

// case: calculated_record_record_final_ext
// expect: y = 7; z = 11; v = 9;
package P
record B0 Real a=1; Real b=2*a; end B0;
record B1 extends B0(a=3); Real c=b+1; end B1;
record B2=B1(b=10);
constant B1 r; constant B2 q; constant B2 w(a=4,b=2*4);
model M Real y=r.c*time; Real z=q.c*time; Real v=w.c*time; end M; end P;
model M extends P.M; end M;

// case: calculated_record_each_mixed
// expect: y[1] = 7; y[2] = 9; y[3] = 13; z = 4; w = 5;
package P
record R Real a=1; Real b=2*a; Real c=0; end R;
constant R r[3](a={1,2,4}, each c=5);
model M Real y[3]; Real z=r[2].b*time; Real w=r[3].c*time; equation for i in 1:3 loop y[i]=(r[i].b+r[i].c)*time; end for; end M; end P;
model M extends P.M; end M;

// case: calculated_record_nested_arr_mod
// expect: y = 87; z = 43; w[1] = 70; w[2] = 80;
package P
record In Real k=1; Real m=10*k; end In;
record R In i[2](k={3,4}); Real c=i[1].k+i[2].m; end R;
constant R r(i(k={7,8})); constant R q;
model M Real y=r.c*time; Real z=q.c*time; Real w[2]; equation for j in 1:2 loop w[j]=r.i[j].m*time; end for; end M; end P;
model M extends P.M; end M;

// case: calculated_record_two_level_list
// expect: y = 20; z = 1; w = 30;
package P
record In Real k; Real m=10*k; end In;
record R In i[2]; end R;
constant R r[2]={R(i={In(k=1),In(k=2)}),R(i={In(k=3),In(4,m=1)})};
function f input Integer a; input Integer b; output Real y; algorithm y:=r[a].i[b].m; end f;
model M Real y=f(1,2)*time; Real z=f(2,2)*time; Real w=f(2,1)*time; end M; end P;
model M extends P.M; end M;

// case: calculated_record_alias_const
// expect: y = 6; z = 10;
package P
record R Real a=1; Real b=2*a; end R;
constant R q(a=3); constant R r=q; constant R s[2]={q,R(a=5)};
package A constant R t=r; constant R u=s[2]; end A;
model M Real y=A.t.b*time; Real z=A.u.b*time; end M; end P;
model M extends P.M; end M;

// case: calculated_record_redeclared_record
// expect: y = 2; z = 15; w = 8;
package P
partial package Med replaceable record S Real a=1; Real b=2*a; end S; constant S s; function f input Real u; output Real y; algorithm y:=u*s.b; end f; end Med;
package A extends Med; end A;
package B extends Med(redeclare record S=T); end B;
record T Real a=5; Real b=3*a; end T;
package C extends Med(s(a=4)); end C;
model M Real y=A.f(time); Real z=B.f(time); Real w=C.f(time); end M; end P;
model M extends P.M; end M;

// case: calculated_record_func_member
// expect: y = 10; z = 5;
package P
record R Real a=1; Real b=g(a); end R;
function g input Real u; output Real y; algorithm y:=u^2+1; end g;
constant R r(a=3); constant R v[2](a={1,2});
model M Real y=r.b*time; Real z=v[2].b*time; end M; end P;
model M extends P.M; end M;

// case: calculated_record_inherited_calc
// expect: y = 12; z = 6; w = 8;
package P
record A Real a=1; Real b=2*a; end A;
record B extends A; Real c=a+b; end B;
record C extends B(a=4); end C;
constant C r; constant B q=B(a=2); constant C s=C(c=1);
model M Real y=r.c*time; Real z=q.c*time; Real w=s.b*time; end M; end P;
model M extends P.M; end M;

// case: calculated_record_prot_and_const
// expect: y = 21; z = 6; w = 10;
package P
record R constant Real g=10; Real a=1; Real b=g*a; Real c=b+1; end R;
constant R r=R(2); constant R q=R(2,5);
model M Real y=r.c*time; Real z=q.c*time; Real w=r.g*time; end M; end P;
model M extends P.M; end M;

// case: calculated_record_same_names
// expect: y = 210; z = 110;
package P
constant Real a=100;
record In Real a=2; Real b=a; end In;
record R Real a=1; In i(a=a+10); Real c=i.b+a; end R;
constant R r(a=a);
model M Real y=r.c*time; Real z=r.i.a*time; end M; end P;
model M extends P.M; end M;

// case: calculated_record_param_of_const
// expect: u.y = 2; v.y = 4;
package P
record R Real a=1; Real b=2*a; end R;
constant R r[2](a={1,2});
model A parameter Integer j=1; Real y=r[j].b*time; end A;
model M A u; A v(j=2); end M; end P;
model M extends P.M; end M;

// case: calculated_record_whole_passed
// expect: y = 6; z = 12; w = 2; v = 12;
package P
record R Real a=1; Real b=2*a; end R;
package B constant R r(a=3); function f input R x=r; input Real u; output Real y; algorithm y:=x.b*u; end f; end B;
package D=B(r(a=6));
model M Real y=B.f(u=time); Real z=D.f(u=time); Real w=B.f(R(a=1),time); Real v=B.f(D.r,time); end M; end P;
model M extends P.M; end M;

// case: calculated_record_expr_record
// refused: M.mo:\d+: a member of a record that is calculated
package P
record R Real a=1; Real b=2*a; end R;
constant Boolean q=true;
constant R r=if q then R(a=3) else R(a=4);
model M Real y=r.b*time; end M; end P;
model M extends P.M; end M;

// case: calculated_record_inner_over_value_b
// refused: a constant record with a value and modified members
package P
package B record R Real a=1; Real b=2*a; end R; constant R r=R(a=2); end B;
package D=B(r(a=9));
model M Real y=D.r.b*time; end M; end P;
model M extends P.M; end M;

// case: calculated_record_op_mixed
// refused: because of M.mo:\d+: operator record C
package P
operator record C Real re; Real im;
 encapsulated operator 'constructor' function f import P.C; input Real re; input Real im=0; output C r(re=re,im=im); algorithm end f; end 'constructor';
 encapsulated operator function '*' import P.C; input C a; input C b; output C c; algorithm c:=C(a.re*b.re-a.im*b.im,a.re*b.im+a.im*b.re); end '*';
end C;
function fx input Real u; output Real y; protected C k; algorithm k:=C(u,2)*C(1,1); y:=k.im; end fx;
model M C b=C(time,2); C c=3*b; Real y=fx(time); end M; end P;
model M extends P.M; end M;

// case: calculated_record_op_const
// refused: M.mo:\d+: a member of a record that is calculated
package P
operator record C Real re; Real im;
 encapsulated operator function '+' import P.C; input C a; input C b; output C c; algorithm c:=C(a.re+b.re,a.im+b.im); end '+';
end C;
constant C k=C(3,4)+C(1,1);
model M Real y=k.re*time; Real z=k.im*time; end M; end P;
model M extends P.M; end M;
