"""Units that others write: lists that the tests of units go through."""

#: Named units of SI with exponents of kg, m, s, A, K, mol, cd, rad (SI brochure, tables 2 and 4).
SI = {
    "m": (0, 1, 0, 0, 0, 0, 0, 0),
    "s": (0, 0, 1, 0, 0, 0, 0, 0),
    "A": (0, 0, 0, 1, 0, 0, 0, 0),
    "K": (0, 0, 0, 0, 1, 0, 0, 0),
    "mol": (0, 0, 0, 0, 0, 1, 0, 0),
    "cd": (0, 0, 0, 0, 0, 0, 1, 0),
    "rad": (0, 0, 0, 0, 0, 0, 0, 1),
    "sr": (0, 0, 0, 0, 0, 0, 0, 2),
    "Hz": (0, 0, -1, 0, 0, 0, 0, 0),
    "N": (1, 1, -2, 0, 0, 0, 0, 0),
    "Pa": (1, -1, -2, 0, 0, 0, 0, 0),
    "J": (1, 2, -2, 0, 0, 0, 0, 0),
    "W": (1, 2, -3, 0, 0, 0, 0, 0),
    "C": (0, 0, 1, 1, 0, 0, 0, 0),
    "V": (1, 2, -3, -1, 0, 0, 0, 0),
    "F": (-1, -2, 4, 2, 0, 0, 0, 0),
    "Ohm": (1, 2, -3, -2, 0, 0, 0, 0),
    "S": (-1, -2, 3, 2, 0, 0, 0, 0),
    "Wb": (1, 2, -2, -1, 0, 0, 0, 0),
    "T": (1, 0, -2, -1, 0, 0, 0, 0),
    "H": (1, 2, -2, -2, 0, 0, 0, 0),
    "lm": (0, 0, 0, 0, 0, 0, 1, 2),
    "lx": (0, -2, 0, 0, 0, 0, 1, 2),
    "Bq": (0, 0, -1, 0, 0, 0, 0, 0),
    "Gy": (0, 2, -2, 0, 0, 0, 0, 0),
    "Sv": (0, 2, -2, 0, 0, 0, 0, 0),
    "kat": (0, 0, -1, 0, 0, 1, 0, 0),
}
PREFIXES = {
    "da": "deka",
    "h": "hecto",
    "k": "kilo",
    "M": "mega",
    "G": "giga",
    "T": "tera",
    "P": "peta",
    "E": "exa",
    "Z": "zetta",
    "Y": "yotta",
    "R": "ronna",
    "Q": "quetta",
    "d": "deci",
    "c": "centi",
    "m": "milli",
    "u": "micro",
    "n": "nano",
    "p": "pico",
    "f": "femto",
    "a": "atto",
    "z": "zepto",
    "y": "yocto",
    "r": "ronto",
    "q": "quecto",
}

#: All that Modelica.Units.SI and Modelica.Units.NonSI of the Modelica Standard Library 4 have as
#: `unit` or `displayUnit`, but phon and sone, which are no measures of SI.
_MODELICA = """
1 1/(A.s) 1/K 1/K2 1/Pa 1/S 1/V 1/cm2 1/s A A.h A.m2 A.m2/(J.s) A/(m2.K2) A/V2 A/m A/m2 A/s Bq
Bq/kg C C.m C.m2/V C/(kg.s) C/kg C/m2 C/m3 C/mol F F/m F/m2 Gy Gy/s H H-1 H/m Hz J J-1/m-3
J.m.s2/kg J.m.s2/kg2 J.m2 J.m2/kg J.m3/kg J/(K.s) J/(kg.K) J/(mol.K) J/K J/kg J/m J/m2 J/m3 J/m4
J/mol K K/W K/s N N.m N.m.s N.m.s/rad N.m/A N.m/rad N.s N.s/m N/A N/m Ohm Ohm.m Ohm/K Ohm/K2 Ohm/m
Pa Pa.m3/kg Pa.s Pa.s/m Pa.s/m3 Pa/K Pa/s S S.m2/mol S/m Sv T V V.A V.s V.s/(A.m) V/K V/m V/s V2/K2
W W.h W/(m.K) W/(m2.K) W/(sr.m2) W/K W/m2 W/sr Wb Wb.m Wb/m bar bar/s cd cd/m2 cm2 cm2/(V.s) d deg
degC degF degRk eV g/cm3 g/s h kW.h kg kg.m/s kg.m2 kg.m2/s kg.s2/m5 kg/(m3.K) kg/m kg/m2 kg/m3
kg/mol kg/s km/h l lm lm.s lm/W lm/m2 lx lx.s m m-1 m-2 m-2.s-1 m-3 m/s m/s2 m/s3 m2 m2.K/W
m2/(V.s) m2/(sr.J) m2/J m2/kg m2/mol m2/s m2/sr m3 m3/C m3/kg m3/mol m3/s m4 min mol mol/kg mol/m3
mol/s rad rad/m rad/s rad/s2 rad/s3 rev/min s s-1 s-1.m-2 s-1.m-3 s-1.m2 s/m3 s2/m2 sr var
"""
MODELICA = _MODELICA.split()

#: What else its models write.
_MODELS = """
(J)/(A.s) (J.m3)/(kg2) (J/K)/(A.s) (J/kg)/(kg/m3) (J/kg)/K (Pa.s)/m3 (Pa.s2)/m6 deg/rad rad/deg
g/mol kJ/(kg.s) kg2.K/(m3.J) m3.kg-1.K-1 m4.kg-2.s2 m4.s4/(K.s8) mol/l mol/mol N.m/s2 W/cm2
rad/(s.Ohm) kg/(s.Pa) T/s V/cm W/(m2.K4) MW ml 1/min
"""
MODELICA_MODELS = _MODELS.split()

#: Units as public FMUs and SSPs define them (OMSimulator, Vico, ecos, PyFMI, Reference-FMUs):
#: name, exponents of kg, m, s, A, K, mol, cd, rad, factor, offset.
PUBLIC = [
    ("-", (0, 0, 0, 0, 0, 0, 0, 0), 1.0, 0.0),
    ("1/K", (0, 0, 0, 0, -1, 0, 0, 0), 1.0, 0.0),
    ("A/s", (0, 0, -1, 1, 0, 0, 0, 0), 1.0, 0.0),
    ("Hz", (0, 0, -1, 0, 0, 0, 0, 0), 1.0, 0.0),
    ("J/(kg.K)", (0, 2, -2, 0, -1, 0, 0, 0), 1.0, 0.0),
    ("K/s", (0, 0, -1, 0, 1, 0, 0, 0), 1.0, 0.0),
    ("Kg", (1, 0, 0, 0, 0, 0, 0, 0), 1.0, 0.0),
    ("N.m.s/rad", (1, 2, -1, 0, 0, 0, 0, -1), 1.0, 0.0),
    ("N.m/A", (1, 2, -2, -1, 0, 0, 0, 0), 1.0, 0.0),
    ("N.s/m2", (1, -1, -1, 0, 0, 0, 0, 0), 1.0, 0.0),
    ("Nm", (1, 2, -2, 0, 0, 0, 0, 0), 1.0, 0.0),
    ("Pa/(kg/s)", (0, -1, -1, 0, 0, 0, 0, 0), 1.0, 0.0),
    ("Pa/s2", (1, -1, -4, 0, 0, 0, 0, 0), 1.0, 0.0),
    ("W/(s.K)", (1, 2, -4, 0, -1, 0, 0, 0), 1.0, 0.0),
    ("bar", (1, -1, -2, 0, 0, 0, 0, 0), 1e5, 0.0),
    ("deg", (0, 0, 0, 0, 0, 0, 0, 1), 0.017453292519943, 0.0),
    ("km2.s-4.A-1.g", (1, 2, -4, -1, 0, 0, 0, 0), 1000.0, 0.0),
    ("m/ms", (0, 1, -1, 0, 0, 0, 0, 0), 1000.0, 0.0),
    ("mA", (0, 0, 0, 1, 0, 0, 0, 0), 1e-3, 0.0),
    ("meter", (0, 1, 0, 0, 0, 0, 0, 0), 1.0, 0.0),
    ("mm2", (0, 2, 0, 0, 0, 0, 0, 0), 1e-6, 0.0),
    ("rad/s", (0, 0, -1, 0, 0, 0, 0, 0), 1.0, 0.0),
    ("rad/s2", (0, 0, -2, 0, 0, 0, 0, 1), 1.0, 0.0),
    ("s-1.A", (0, 0, -1, 1, 0, 0, 0, 0), 1.0, 0.0),
]
#: Definitions of public files that their names contradict.
PUBLIC_FAULTS = [
    ("L/min", (0, 3, -1, 0, 0, 0, 0, 0), 6e-4, 0.0),
    ("bar", (1, -2, 0, 0, 0, 0, 0, 0), 1e5, 0.0),
    ("deg", (0, 0, 0, 0, 0, 0, 0, 1), 57.29746, 0.0),
    ("kg/m3", (1, 3, 0, 0, 0, 0, 0, 0), 1.0, 0.0),
    ("m", (0, 1, 0, 0, 0, 0, 0, 0), 1e-3, 0.0),
]
#: Display units of public FMUs: unit, display unit, factor, offset.
PUBLIC_DISPLAYS = [
    ("K", "degC", 1.0, -273.15),
    ("K", "degF", 1.7999999999999998, -459.67),
    ("Pa", "bar", 1e-5, 0.0),
    ("m", "ft", 3.280839895, 0.0),
    ("m/s", "km/h", 3.6, 0.0),
    ("rad", "deg", 57.29577951308232, 0.0),
    ("rad/s", "deg/s", 57.2957795130823, 0.0),
    ("rad/s", "r/min", 9.54929658551372, 0.0),
    ("meter", "kilometer", 1e-3, 0.0),
]

#: What engineers write, and what that is in Modelica's notation.
ENGINEERS = {
    "Nm": "N.m",
    "kNm": "kN.m",
    "mNm": "mN.m",
    "Nmm": "N.mm",
    "Ncm": "N.cm",
    "Ns": "N.s",
    "Ns/m": "N.s/m",
    "Nms": "N.m.s",
    "Nms/rad": "N.m.s/rad",
    "Nm/rad": "N.m/rad",
    "Nm/A": "N.m/A",
    "kgm2": "kg.m2",
    "kgmm2": "kg.mm2",
    "gcm2": "g.cm2",
    "kgm/s": "kg.m/s",
    "Ws": "W.s",
    "Wh": "W.h",
    "kWh": "kW.h",
    "Ah": "A.h",
    "mAh": "mA.h",
    "As": "A.s",
    "Vs": "V.s",
    "VA": "V.A",
    "kVA": "kV.A",
    "VAs": "V.A.s",
    "Pas": "Pa.s",
    "mPas": "mPa.s",
    "W/m2K": "W/(m2.K)",
    "W/m²K": "W/(m2.K)",
    "J/kgK": "J/(kg.K)",
    "J/kg/K": "J/(kg.K)",
    "J/molK": "J/(mol.K)",
    "Ohmm": "Ohm.m",
    "m/s^2": "m/s2",
    "m/s**2": "m/s2",
    "m/s²": "m/s2",
    "m^2": "m2",
    "m^(-2)": "1/m2",
    "m·s⁻¹": "m/s",
    "m/s/s": "m/s2",
    "m^3/s/V": "m3/(s.V)",
    "N*m": "N.m",
    "N*m/rad": "N.m/rad",
    "N·m": "N.m",
    "N m": "N.m",
    "N-m": "N.m",
    "kg m2": "kg.m2",
    "kg*m^2/s^2": "kg.m2/s2",
    "lbf-ft": "lbf.ft",
    "ftlbf": "ft.lbf",
    "°": "deg",
    "°/s": "deg/s",
    "°C": "degC",
    "deg C": "degC",
    "Ω": "Ohm",
    "kΩ": "kOhm",
    "ohm": "Ohm",
    "r/min": "rev/min",
    "RPM": "rpm",
    "U/min": "rev/min",
    "sec": "s",
    "rad/sec": "rad/s",
    "hr": "h",
    "kph": "km/h",
    "Kg": "kg",
    "KN": "kN",
    "-": "1",
}
