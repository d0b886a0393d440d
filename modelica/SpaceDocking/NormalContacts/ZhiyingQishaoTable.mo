within SpaceDocking.NormalContacts;
model ZhiyingQishaoTable "The same with the damping that reproduces the paper's table"
  extends Interfaces.PartialHertzian(
    damping_number = 0.75*(1 - restitution^2)*exp(2*(1 - restitution))/((1 - 0.55^2)*exp(0.9)));
  annotation (Documentation(info = "<html>
<p>Cai, Chen, Luo and Wang, Aerospace 8, 381 (2021), Table 1. Fitted: the damping number is 0.75 at a
restitution of 0.55.</p>
</html>"));
end ZhiyingQishaoTable;
