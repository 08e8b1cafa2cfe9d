import { render } from "preact";
import "./style/base.css";
import "./style/frame.css";
import "./style/controls.css";
import "./style/values.css";
import "./style/diff.css";
import "./style/rows.css";
import "./style/forms.css";
import { App } from "./app";

const root = document.getElementById("root");
if (root) render(<App />, root);
