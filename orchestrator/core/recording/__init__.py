"""Recording: what a run leaves behind - results, their formats, journals, folders kept whole.

pandas and pyarrow are imported where they are used, so that this package is imported quickly.
"""

from typing import TYPE_CHECKING

from orchestrator.core.lazy_names import lazy_names
from orchestrator.core.recording.origin import (
    origin as origin,
    parameters_of as parameters_of,
    versions as versions,
)
from orchestrator.core.recording.whole_folder import (
    Draft as Draft,
    link as link,
    whole_folder as whole_folder,
)

if TYPE_CHECKING:
    from orchestrator.core.recording.files import (
        LARGEST_MATRIX as LARGEST_MATRIX,
        kept_result as kept_result,
        read_result as read_result,
        write_csv as write_csv,
        write_mat as write_mat,
    )
    from orchestrator.core.recording.formats import (
        default_format as default_format,
        format_names as format_names,
        writer as writer,
    )
    from orchestrator.core.recording.journal import Journal as Journal
    from orchestrator.core.recording.parquet import (
        read_parquet as read_parquet,
        write_parquet as write_parquet,
    )
    from orchestrator.core.recording.result import ParameterRow as ParameterRow, Result as Result
    from orchestrator.core.recording.whole_folder import whole_file as whole_file
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
