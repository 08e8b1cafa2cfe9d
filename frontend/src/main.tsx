import { render } from "preact";
import "./style/base.css";
import "./style/shell.css";
import "./style/data.css";
import { App } from "./app";

const root = document.getElementById("root");
if (root) render(<App />, root);
