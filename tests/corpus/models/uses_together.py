"""Media, function arguments and inner classes in larger combinations."""

from __future__ import annotations

from corpus.case import Case

CASES: dict[str, Case] = {
    "use: farg": Case(
        ("Real a=two(sq,2*time); Real b=two(cu,time);"),
        {
            "a": 16.0,
            "b": 1.0,
        },
        before=(
            "partial function Map input Real x; output Real y; end Map; function sq extends Map;"
            " algorithm y:=x^2; end sq; function cu extends Map; algorithm y:=x^3; end cu;"
            " function lin extends Map; input Real k=1; algorithm y:=k*x; end lin;function two"
            " input Map f; input Real x; output Real y; algorithm y:=f(f(x)); end two;"
        ),
    ),
    "use: farg partial": Case(
        (
            "parameter Real p=3; Real a=two(function lin(k=p),time); Real b=two(function"
            " lin(k=2),time);"
        ),
        {
            "a": 9.0,
            "b": 4.0,
        },
        before=(
            "partial function Map input Real x; output Real y; end Map; function sq extends Map;"
            " algorithm y:=x^2; end sq; function cu extends Map; algorithm y:=x^3; end cu;"
            " function lin extends Map; input Real k=1; algorithm y:=k*x; end lin;function two"
            " input Map f; input Real x; output Real y; algorithm y:=f(f(x)); end two;"
        ),
    ),
    "use: farg redecl": Case(
        ("A a; A b(redeclare function g=cu);"),
        {"a.y": 16.0, "b.y": 512.0},
        before=(
            "partial function Map input Real x; output Real y; end Map; function sq extends Map;"
            " algorithm y:=x^2; end sq; function cu extends Map; algorithm y:=x^3; end cu;"
            " function lin extends Map; input Real k=1; algorithm y:=k*x; end lin;function two"
            " input Map f; input Real x; output Real y; algorithm y:=f(f(x)); end two; model A"
            " replaceable function g=sq constrainedby Map; Real y=two(g,2*time); end A;"
        ),
    ),
    "use: props": Case(
        ("Vol a; Vol b(redeclare package Medium=B);"),
        {
            "a.s.d": 6.0,
            "a.h": 4.0,
            "b.s.d": 5.0,
            "b.h": 80.0,
        },
        before=(
            "partial package Med constant Real R=1; constant Integer nX=1; replaceable partial"
            " model Props parameter Real m=1; Real p; Real T; Real d; end Props; replaceable"
            " partial function h input Real T; output Real y; end h; end Med; package A extends"
            " Med(R=2); redeclare model extends Props equation d=m*p/(R*T); end Props; redeclare"
            " function extends h algorithm y:=R*T; end h; end A; package B extends Med(R=4,nX=2);"
            " redeclare model extends Props Real X[nX]; equation d=m*p/(R*T)+sum(X);"
            " X=fill(time,nX); end Props; redeclare function extends h protected Real c=10;"
            " algorithm y:=c*R*T; end h; end B; model Vol replaceable package Medium=A"
            " constrainedby Med; Medium.Props s(m=3); Real h=Medium.h(s.T); equation s.p=8*time;"
            " s.T=2; end Vol;"
        ),
    ),
    "use: props mod": Case(
        ("Vol b(redeclare package Medium=B(R=8,nX=3)); Vol a(redeclare package Medium=A(R=1));"),
        {
            "a.s.d": 12.0,
            "b.s.d": 4.5,
            "b.h": 160.0,
        },
        before=(
            "partial package Med constant Real R=1; constant Integer nX=1; replaceable partial"
            " model Props parameter Real m=1; Real p; Real T; Real d; end Props; replaceable"
            " partial function h input Real T; output Real y; end h; end Med; package A extends"
            " Med(R=2); redeclare model extends Props equation d=m*p/(R*T); end Props; redeclare"
            " function extends h algorithm y:=R*T; end h; end A; package B extends Med(R=4,nX=2);"
            " redeclare model extends Props Real X[nX]; equation d=m*p/(R*T)+sum(X);"
            " X=fill(time,nX); end Props; redeclare function extends h protected Real c=10;"
            " algorithm y:=c*R*T; end h; end B; model Vol replaceable package Medium=A"
            " constrainedby Med; Medium.Props s(m=3); Real h=Medium.h(s.T); equation s.p=8*time;"
            " s.T=2; end Vol;"
        ),
    ),
    "use: props two levels": Case(
        ("Top t; Sys u(redeclare package M1=A(R=3));"),
        {
            "t.s1.v.h": 4.0,
            "t.s2.v.h": 80.0,
            "u.v.h": 6.0,
        },
        before=(
            "partial package Med constant Real R=1; constant Integer nX=1; replaceable partial"
            " model Props parameter Real m=1; Real p; Real T; Real d; end Props; replaceable"
            " partial function h input Real T; output Real y; end h; end Med; package A extends"
            " Med(R=2); redeclare model extends Props equation d=m*p/(R*T); end Props; redeclare"
            " function extends h algorithm y:=R*T; end h; end A; package B extends Med(R=4,nX=2);"
            " redeclare model extends Props Real X[nX]; equation d=m*p/(R*T)+sum(X);"
            " X=fill(time,nX); end Props; redeclare function extends h protected Real c=10;"
            " algorithm y:=c*R*T; end h; end B; model Vol replaceable package Medium=A"
            " constrainedby Med; Medium.Props s(m=3); Real h=Medium.h(s.T); equation s.p=8*time;"
            " s.T=2; end Vol;model Sys replaceable package M1=A constrainedby Med; Vol"
            " v(redeclare package Medium=M1); end Sys; model Top Sys s1; Sys s2(redeclare package"
            " M1=B); end Top;"
        ),
    ),
    "use: fluid constants": Case(
        ("Real a=W.mm(time)+W.fc[1].Tc; Real b=O.mm(time)+O.fc[2].Tc;"),
        {
            "a": 665.0,
            "b": 33.0,
        },
        before=(
            "record FC Real M; Real Tc=1; end FC; partial package P constant FC fc[:]; constant"
            " Integer n=size(fc,1); function mm input Real x; output Real y; algorithm"
            " y:=fc[1].M*x; end mm; end P; package W extends P(fc={FC(M=18,Tc=647)}); end W;"
            " package O extends P(fc={FC(M=32,Tc=154),FC(M=28)}); end O;"
        ),
    ),
    "use: bool const": Case(
        (
            "Real a=P.f(time); Real b=N.f(time); Real c; equation if N.inv then c=1; else c=2;"
            " end if;"
        ),
        {
            "a": 2.0,
            "b": -2.0,
            "c": 1.0,
        },
        before=(
            "package P constant Boolean inv=false; constant Real k=2; function f input Real x;"
            " output Real y; algorithm if inv then y:=-k*x; else y:=k*x; end if; end f; end P;"
            " package N extends P(inv=true); end N;"
        ),
    ),
    "use: enum const": Case(
        ("Real a=P.f(time); Real b=N.f(time);"),
        {
            "a": 1.0,
            "b": 2.0,
        },
        before=(
            "package T type E=enumeration(a,b); end T; package P constant T.E e=T.E.a; function f"
            " input Real x; output Real y; algorithm y:=if e==T.E.a then x else 2*x; end f; end"
            " P; package N=P(e=T.E.b);"
        ),
    ),
    "use: str const": Case(
        ("Real a=P.f(time); Real b=N.f(time);"),
        {
            "a": 1.0,
            "b": 2.0,
        },
        before=(
            'package P constant String s="one"; function f input Real x; output Real y; algorithm'
            ' y:=if s=="one" then x else 2*x; end f; end P; package N=P(s="two");'
        ),
    ),
    "use: mat const": Case(
        ("Real a[2]=P.f({time,1}); Real b[2]=N.f({time,1});"),
        {
            "a[2]": 7.0,
            "b[1]": 1.0,
            "b[2]": 1.0,
        },
        before=(
            "package P constant Real A[2,2]={{1,2},{3,4}}; function f input Real x[2]; output"
            " Real y[2]; algorithm y:=A*x; end f; end P; package N extends P(A=[0,1;1,0]); end N;"
        ),
    ),
    "use: import in fn": Case(
        ("Real a=P.f(time); Real b=N.f(time);"),
        {
            "a": 7.0,
            "b": 9.0,
        },
        before=(
            "package K constant Real k=2; end K; package P constant Real k=3; function f import"
            " K; import c=K.k; input Real x; output Real y; algorithm y:=k*x+K.k+c; end f; end P;"
            " package N=P(k=5);"
        ),
    ),
    "use: inner model redecl": Case(
        ("House a; House b(redeclare model Env=H(d=3)); House c(redeclare model Env=H, env(d=7));"),
        {
            "a.s.y": 2.0,
            "b.s.y": 8.0,
            "c.s.y": 16.0,
        },
        before=(
            "partial model E Real T; end E; model C extends E; equation T=time; end C; model H"
            " extends E; parameter Real d=100; equation T=time+d; end H; model S outer E env;"
            " Real y=2*env.T; end S; model House replaceable model Env=C constrainedby E; inner"
            " Env env; S s; S z[2]; end House;"
        ),
    ),
    "use: inner pkg": Case(
        ("inner package P=P2; L l;"),
        {
            "l.y": 2.0,
        },
        before=(
            "partial package PF replaceable partial function f input Real x; output Real y; end"
            " f; end PF; package P1 extends PF; redeclare function f input Real x; output Real y;"
            " algorithm y:=x; end f; end P1; package P2 extends PF; redeclare function f input"
            " Real x; output Real y; algorithm y:=2*x; end f; end P2; model L outer package P=PF;"
            " Real y=P.f(time); end L;"
        ),
    ),
    "use: array inst": Case(
        ("A a[3](redeclare package Z=P(k=5), p={1,2,3}); A b;"),
        {
            "a[3].y": 15.0,
            "b.y": 1.0,
        },
        before=(
            "package P constant Real k=1; function f input Real x; output Real y; algorithm"
            " y:=k*x; end f; end P; model A replaceable package Z=P; parameter Real p=1; Real"
            " y=Z.f(p*time); end A;"
        ),
    ),
    "use: ext fn two": Case(
        ("Real p=f0(time),q=f1(time),r=f2(time),s=f3(time);"),
        {
            "p": 1.0,
            "q": 2.0,
            "r": 7.0,
            "s": 7.0,
        },
        before=(
            "function f0 input Real x; input Real a=1; output Real y; protected Real b=a;"
            " algorithm y:=b*x; end f0; function f1 extends f0(a=2); end f1; function f2 extends"
            " f1(b=7); end f2; function f3=f2(a=9);"
        ),
    ),
    "use: const chain": Case(
        ("Real u=P.f(); Real v=N.f(); Real w=N.c*time;"),
        {
            "u": 6.0,
            "v": 20.0,
            "w": 16.0,
        },
        before=(
            "package P constant Real a=1; constant Real b=a+1; constant Real c=b*b; function f"
            " input Real x=c; output Real y; algorithm y:=x+b; end f; end P; package N extends"
            " P(a=3); end N;"
        ),
    ),
    "use: model in pkg": Case(
        ("P.A p; N.A n;"),
        {
            "p.y": 1.0,
            "n.y": 4.0,
            "n.b.z": 8.0,
            "p.b.z": 2.0,
        },
        before=(
            "package P constant Real k=1; model A Real y=k*time; B b; end A; model B Real z=2*k;"
            " end B; end P; package N extends P(k=4); end N;"
        ),
    ),
    "use: redecl in derived pkg": Case(
        ("P.A p; N.A n;"),
        {
            "p.y": 1.0,
            "n.y": 5.0,
        },
        before=(
            "package P replaceable model B Real z=1; end B; model A B b; Real y=b.z*time; end A;"
            " end P; package N extends P; redeclare model B Real z=5; end B; end N;"
        ),
    ),
    "use: conn in pkg": Case(
        ("P.S s; P.R r; N.S t; N.R u; equation connect(s.c,r.c); connect(t.c,u.c);"),
        {
            "s.c.f[1]": -6.0,
            "t.c.f[2]": -6.0,
        },
        before=(
            "package P constant Integer n=1; connector C Real e[n]; flow Real f[n]; end C; model"
            " S C c; equation c.e=fill(2,n); end S; model R C c; equation c.f=3*c.e; end R; end"
            " P; package N=P(n=2);"
        ),
    ),
    "use: rec fn out": Case(
        ("Real a=P.use(P.mk(time)); Real b=N.use(N.mk(time));"),
        {
            "a": 3.0,
            "b": 9.0,
        },
        before=(
            "package P constant Real k=1; record R Real a; Real b; end R; function mk input Real"
            " x; output R r; algorithm r.a:=k*x; r.b:=2*k; end mk; function use input R r; output"
            " Real y; algorithm y:=r.a+r.b; end use; end P; package N extends P(k=3); end N;"
        ),
    ),
    "use: when fn": Case(
        ("A a; A b(redeclare package Z=P(k=3));"),
        {
            "a.d": 2.0,
            "b.d": 6.0,
        },
        before=(
            "package P constant Real k=1; function f input Real x; output Real y; algorithm"
            " y:=k*x; end f; end P; model A replaceable package Z=P; discrete Real"
            " d(start=0,fixed=true); equation when time>0.5 then d=Z.f(2); end when; end A;"
        ),
    ),
    "use: alg fn": Case(
        ("A a; A b(redeclare package Z=P(k=3));"),
        {
            "a.d": 2.0,
            "b.d": 6.0,
        },
        before=(
            "package P constant Real k=1; function f input Real x; output Real y; algorithm"
            " y:=k*x; end f; end P; model A replaceable package Z=P; Real d; algorithm"
            " d:=Z.f(time); d:=d+Z.k; end A;"
        ),
    ),
    "use: der fn inst": Case(
        ("Real a=dg(time); Real b=df(time,5);"),
        {
            "a": 6.0,
            "b": 10.0,
        },
        before=(
            "function f input Real x; input Real k=2; output Real y; algorithm y:=k*x^2; end f;"
            " function g=f(k=3); function dg=der(g,x); function df=der(f,x);"
        ),
    ),
}
