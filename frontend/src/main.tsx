import { render } from "preact";
import { App } from "./app";
import "./style/base.css";
import "./style/shell.css";
import "./style/data.css";
import "./style/screens.css";

const root = document.getElementById("root");
if (root) render(<App />, root);
