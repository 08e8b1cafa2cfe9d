/** What a call waits for: answers to what it asks, or the page that was opened for it. */
import type { Run } from "../model/run";
import { useStore } from "../store";
import { Icon } from "../ui/icon";
import { isWebUrl, Text, WebLink } from "../ui/text";
import { Questions } from "./questions";

export function Asking({ run }: { run: Run }) {
  const { questions, visiting } = useStore(run.state);
  return (
    <>
      {questions && <Questions questions={questions} answer={(answers) => run.answer(answers)} />}
      {visiting !== undefined && <Visiting url={visiting} />}
    </>
  );
}

/** The call goes on when the page that was opened for it is done with. */
function Visiting({ url }: { url: string }) {
  return (
    <p class="banner note" role="status">
      <Icon name="lock" />
      <span>
        The call waits until you are done at{" "}
        <WebLink to={url}>
          <Text of={isWebUrl(url) ? new URL(url).host : url} />
        </WebLink>
        .
      </span>
    </p>
  );
}
