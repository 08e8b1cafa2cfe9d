#!/usr/bin/env bash
# shellcheck source=/dev/null
source "${MCP_SDK:?}/tool-sdk.sh"
case "$(mcp_args_require '.kind')" in
form) mcp_elicit "Fill in" '{"type":"object","properties":{"age":{"type":"integer"}}}' ;;
string) mcp_elicit_string "Who?" name ;;
confirm) mcp_elicit_confirm "Sure?" ;;
choice) mcp_elicit_choice "Which?" red green ;;
titled) mcp_elicit_titled_choice "Which?" r:Red g:Green ;;
multi) mcp_elicit_multi_choice "Which ones?" red green ;;
titled-multi) mcp_elicit_titled_multi_choice "Which ones?" r:Red g:Green ;;
url) mcp_elicit_url "Log in" "https://example.com/login" ;;
sample) mcp_sample "Say something" --max-tokens 5 --system "Be brief" ;;
sample-text)
	text="$(mcp_sample_text "Say something")"
	mcp_emit_text "$text"
	;;
esac
