import { render } from "preact";
import "./style/base.css";
import "./style/frame.css";
import "./style/controls.css";
import "./style/values.css";
import "./style/diff.css";
import "./style/rows.css";
import "./style/forms.css";
import { App, ready } from "./app";

// Drawn once, with what it shows, where that is nearly here: until then there is the frame of
// index.html, and an outline in between would cost the time of a frame.
const MOST_WAIT = 100;

const patience = new Promise((over) => setTimeout(over, MOST_WAIT));
void Promise.race([ready(), patience]).then(() => {
  const root = document.getElementById("root");
  if (root) render(<App />, root);
});
