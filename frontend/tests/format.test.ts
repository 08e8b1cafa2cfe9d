import assert from "node:assert/strict";
import { test } from "node:test";
import { count, ms, thousands, tokens } from "../src/format.ts";

test("large numbers have commas, wherever the reader lives", () => {
  const told = [0, 999, 1000, 12345, 1234567, -1234, -123].map(thousands);
  assert.deepEqual(told, ["0", "999", "1,000", "12,345", "1,234,567", "-1,234", "-123"]);
  assert.deepEqual([count(99_999), count(2_345_678)], ["99,999", "2,346k"]);
  assert.deepEqual([tokens(9_999), tokens(12_345)], ["≈9,999", "≈12.3k"]);
  assert.deepEqual(
    [ms(0.5), ms(50), ms(1234.5), ms(12_345)],
    ["0.50 ms", "50.0 ms", "1,235 ms", "12.3 s"],
  );
});
