import { expect, test } from "vitest";
import { isLink } from "../share/link.ts";
import { split } from "./token.ts";

test("a token alone leaves no fragment", () => {
  expect(split("#token=a-B_9")).toEqual({ token: "a-B_9", rest: "" });
});

test("a token after a shared scenario leaves the scenario's link", () => {
  const { token, rest } = split("#a.q1Yqyc_9-z&token=a-B_9");
  expect(token).toBe("a-B_9");
  expect(rest).toBe("#a.q1Yqyc_9-z");
  expect(isLink(rest)).toBe(true);
});

test.each(["", "#", "#a.q1Yqyc", "#token=", "#a.token", "#mytoken=abc", "#token=a b"])(
  "%j has no token",
  (fragment) => {
    expect(split(fragment)).toEqual({ token: undefined, rest: fragment });
  },
);
