/** What is special about a tool, in a word each. */
import type { ToolRow } from "../types";
import { Badge } from "../ui/controls";
import { Text } from "../ui/text";

export function ToolBadges({ tool, short = false }: { tool: ToolRow; short?: boolean }) {
  const hidden = tool.hidden?.length ?? 0;
  return (
    <span class="badges">
      {tool.unavailable && (
        <Badge tone="bad" title={tool.unavailable}>
          off
        </Badge>
      )}
      {tool.source && !short && (
        <Badge tone="accent" title="Made from another tool">
          from <Text of={tool.source} />
        </Badge>
      )}
      {tool.version && (
        <Badge>
          <Text of={tool.version} />
        </Badge>
      )}
      {tool.pinned && <Badge title="Bound to a version or a schema of its source">pinned</Badge>}
      {hidden > 0 && <Badge title={`Hidden: ${tool.hidden!.join(", ")}`}>{hidden} hidden</Badge>}
      {tool.projected && <Badge title="The result is projected">projected</Badge>}
      {tool.origin === "project" && !short && (
        <Badge title="An executable of the project">script</Badge>
      )}
      {!short && tool.requires?.map((name) => <Badge key={name}>needs {name}</Badge>)}
    </span>
  );
}
