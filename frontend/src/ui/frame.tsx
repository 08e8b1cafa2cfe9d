/** A page of MCP Apps in a frame without a way out; what speaks with it is loaded with the first. */
import { lazy } from "./lazy";

export const AppFrame = lazy(async () => (await import("./app")).App);
