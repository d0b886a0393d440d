"""Energy: what flows over bonds, what is stored, created and lost in a run."""

from typing import TYPE_CHECKING

from orchestrator.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from orchestrator.study.energy.ledger import (
        EnergyLedger as EnergyLedger,
        Entry as Entry,
        Kind as Kind,
        energy_ledger as energy_ledger,
    )
    from orchestrator.study.energy.plan import (
        Account as Account,
        Bond as Bond,
        Interface as Interface,
        LedgerPlan as LedgerPlan,
        LedgerPort as LedgerPort,
        Motion as Motion,
        Stage as Stage,
        automatic_plan as automatic_plan,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
