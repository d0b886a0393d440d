within SpaceDocking.Chains;
function settle "Next modes of joints that stick and slide: one of them changes at a time"
  input Integer mode[:] "1 forward, -1 backward, 0 sticking";
  input Boolean overloaded[size(mode, 1)] "Sticks under a load beyond static friction";
  input Boolean reversed[size(mode, 1)] "Has just passed rest";
  input Real rate[size(mode, 1)] "Joint rates, rad/s";
  input Real acceleration[size(mode, 1)] "Accelerations of the joints, rad/s2";
  input Real load[size(mode, 1)] "Torques that friction of sticking joints has to hold, N.m";
  input Real static[size(mode, 1)] "Static friction, N.m";
  input Real coulomb[size(mode, 1)] "Coulomb friction, N.m";
  input Integer changes "How many joints have changed at this instant";
  output Real next[size(mode, 1)] "Modes after one change; the same when nothing is left to change";
protected
  Integer n = size(mode, 1) "Number of joints";
  Integer chosen "The joint that changes, 0 for none";
  Real torque "Load of the joint that is to break away";
  Real hold "Its static friction";
algorithm
  chosen := 0;
  torque := 0;
  hold := 1;
  for i in 1:n loop
    if mode[i] <> 0 and (reversed[i] or rate[i] == 0 and mode[i]*acceleration[i] <= 0) then
      chosen := if chosen == 0 then i else chosen;
    end if;
  end for;
  if chosen == 0 then
    for i in 1:n loop
      if overloaded[i] and abs(load[i])*hold > torque*static[i] then
        chosen := i;
        torque := abs(load[i]);
        hold := static[i];
      end if;
    end for;
  end if;
  if changes > 4*n then
    chosen := 0;
    for i in 1:n loop
      if chosen == 0 and (if mode[i] == 0 then abs(load[i]) > coulomb[i]
        else reversed[i] or rate[i] == 0 and mode[i]*acceleration[i] <= 0) then
        chosen := i;
      end if;
    end for;
  end if;
  for i in 1:n loop
    next[i] := if i <> chosen then mode[i] elseif mode[i] <> 0 then 0
      elseif load[i] > 0 then 1 else -1;
  end for;
  annotation (Documentation(info = "<html>
<p>Called again and again at one instant until nothing changes. First a joint that would move against its
own friction sticks. Then, of all that stick under more than static friction holds, the one breaks away
whose load is the largest multiple of it: as if all loads grew together to what they are. The others are
judged anew with it in motion, as its motion changes their loads.</p>
<p>After <code>4*n</code> changes the joint of the least number that does not fit changes, and sticking
joints hold no more than Coulomb friction: the principal pivoting of Murty (1974), which ends for every
positive definite inertia matrix.</p>
</html>"));
end settle;
