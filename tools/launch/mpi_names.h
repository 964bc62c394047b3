// How the MPI library of this build is told what. Open MPI 5 starts ranks by PRRTE, whose parameters have names of
// their own, and its transport through memory is called sm.
#pragma once

namespace kasen::tools {

inline constexpr bool is_mpich = KASEN_OPEN_MPI == 0;
inline constexpr bool has_prrte = KASEN_OPEN_MPI >= 5;

inline constexpr const char* through_memory = has_prrte ? "self,sm" : "self,vader";
inline constexpr const char* segments_parameter =
    has_prrte ? "OMPI_MCA_btl_sm_backing_directory" : "OMPI_MCA_btl_vader_backing_directory";
inline constexpr const char* session_parameter = has_prrte ? "PRTE_MCA_prte_tmpdir_base" : "OMPI_MCA_orte_tmpdir_base";
inline constexpr const char* session_here_parameter =
    has_prrte ? "PRTE_MCA_prte_local_tmpdir_base" : "OMPI_MCA_orte_local_tmpdir_base";
inline constexpr const char* session_there_parameter =
    has_prrte ? "PRTE_MCA_prte_remote_tmpdir_base" : "OMPI_MCA_orte_remote_tmpdir_base";

}  // namespace kasen::tools
