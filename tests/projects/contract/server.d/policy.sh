# shellcheck shell=bash
# Tools whose metadata says so need a variable of the operator.
mcp_tools_policy_check() {
	case $2 in
	*'"guarded":true'*)
		if [ "${POLICY_GUARDED:-no}" != yes ]; then
			mcp_logging_warning contract "refused $1"
			mcp_tools_error -32001 "Tool '$1' is guarded" '{"variable":"POLICY_GUARDED"}'
			return 1
		fi
		;;
	esac
	return 0
}
