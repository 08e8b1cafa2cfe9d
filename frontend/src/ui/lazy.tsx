/** A part of the page that is loaded when it is first looked at. */
import type { ComponentType } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { Failure, Loading } from "./states";

const GONE = "The server does not answer, so this part could not be loaded.";

export type LazyPart<P> = ComponentType<P> & {
  /** Load it before it is looked at. */
  load: () => Promise<ComponentType<P>>;
};

/** `Meanwhile` stands in for it until it is there, also where it cannot be loaded. */
export function lazy<P extends object>(
  fetched: () => Promise<ComponentType<P>>,
  Meanwhile?: ComponentType<P>,
): LazyPart<P> {
  let loaded: ComponentType<P> | null = null;
  const load = async () => {
    loaded = await fetched();
    return loaded;
  };
  return Object.assign(Lazy, { load });

  function Lazy(props: P) {
    const [part, setPart] = useState<{ shown: ComponentType<P> } | Error | null>(
      loaded && { shown: loaded },
    );
    // Before the frame is painted: what is needed is asked for at once.
    useLayoutEffect(() => {
      if (part) return;
      load().then((shown) => setPart({ shown }), setPart);
    }, [part]);
    if (Meanwhile && (!part || part instanceof Error)) return <Meanwhile {...props} />;
    if (part instanceof Error)
      return <Failure error={new Error(GONE)} retry={() => setPart(null)} />;
    if (!part) return <Loading lines={6} />;
    return <part.shown {...props} />;
  }
}
