/** A part of the page that is loaded when it is first looked at. */
import type { ComponentType } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { Failure, Loading } from "./states";

const GONE = "The server does not answer, so this part could not be loaded.";

/** `Meanwhile` stands in for it until it is there, also where it cannot be loaded. */
export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  Meanwhile?: ComponentType<P>,
): ComponentType<P> {
  let loaded: ComponentType<P> | null = null;
  return function Lazy(props: P) {
    const [part, setPart] = useState<{ shown: ComponentType<P> } | Error | null>(
      loaded && { shown: loaded },
    );
    // Before the frame is painted: what is needed is asked for at once.
    useLayoutEffect(() => {
      if (part) return;
      load().then((shown) => {
        loaded = shown;
        setPart({ shown });
      }, setPart);
    }, [part]);
    if (Meanwhile && (!part || part instanceof Error)) return <Meanwhile {...props} />;
    if (part instanceof Error)
      return <Failure error={new Error(GONE)} retry={() => setPart(null)} />;
    if (!part) return <Loading lines={6} />;
    return <part.shown {...props} />;
  };
}
