within SpaceDocking.NormalContacts;
model ZhiyingQishao "Damping number 3 (1 - c^2) exp(2 (1 - c))/4, as printed"
  extends Interfaces.PartialHertzian(
    damping_number = 0.75*(1 - restitution^2)*exp(2*(1 - restitution)));
  annotation (Documentation(info = "<html>
<p>Cai, Chen, Luo and Wang, Aerospace 8, 381 (2021), Eq 2.</p>
</html>"));
end ZhiyingQishao;
