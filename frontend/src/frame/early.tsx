/** The frame as index.html has it; drawn by the build, never by a browser. */
import { render } from "preact-render-to-string";
import { Frame, PaletteButton } from "./frame";

// The button for the theme is left out: its picture depends on what was chosen.
export const earlyFrame = (): string => render(<Frame early palette={<PaletteButton />} />);
