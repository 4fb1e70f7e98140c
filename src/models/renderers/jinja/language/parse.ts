/** A template to its tree: statements, by the grammar of Jinja's own parser. */
import type { Body, Expression, Parameter, Statement, Target } from "./ast.ts";
import { fail } from "./errors.ts";
import { tokenize } from "./lexer.ts";
import { ExpressionParser } from "./parse-expression.ts";
import { Str } from "./str.ts";
import { describe, TokenStream } from "./token-stream.ts";

class Parser extends ExpressionParser {
  whole(): Body {
    const body = this.#body([]);
    this.stream.expect("eof");
    return body;
  }

  /** Statements up to a tag that starts with one of `ends`, which stays the current token. */
  #body(ends: readonly string[]): Body {
    const { stream } = this;
    const body: Statement[] = [];
    while (!stream.is("eof")) {
      const { type, value } = stream.next();
      if (type === "data") {
        body.push({ type: "output", of: { type: "constant", value: Str.own(value) } });
      } else if (type === "variable_begin") {
        body.push({ type: "output", of: this.tuple() });
        stream.expect("variable_end");
      } else {
        if (ends.length > 0 && stream.is("name", ...ends)) return body;
        body.push(...this.#statement());
        stream.expect("block_end");
      }
    }
    if (ends.length > 0) {
      stream.fail(`unexpected end of template, looking for ${ends.join(" or ")}`);
    }
    return body;
  }

  /** The rest of a tag and all up to `ends`. */
  #block(...ends: readonly string[]): Body {
    this.stream.skipIf("operator", ":");
    this.stream.expect("block_end");
    return this.#body(ends);
  }

  #closedBlock(end: string): Body {
    const body = this.#block(end);
    this.stream.next();
    return body;
  }

  #statement(): readonly Statement[] {
    const { stream } = this;
    const { value } = stream.expect("name");
    switch (value) {
      case "for":
        return [this.#for()];
      case "if":
        return [this.#if()];
      case "set":
        return [this.#set()];
      case "macro": {
        const { value: name } = stream.expect("name");
        const parameters = this.#signature();
        return [{ type: "macro", name, parameters, body: this.#closedBlock("endmacro") }];
      }
      case "call":
        return [this.#callBlock()];
      case "filter": {
        const filter = this.blockFilter();
        return [{ type: "filter-block", filter, body: this.#closedBlock("endfilter") }];
      }
      case "with":
        return [this.#with()];
      case "print":
        return this.#print();
      case "break":
      case "continue":
        return [{ type: value }];
      // Transformers marks with it which tokens to train on; the text stays.
      case "generation":
        return [{ type: "with", values: [], body: this.#closedBlock("endgeneration") }];
      case "block": {
        const { value: name } = stream.expect("name");
        while (stream.is("name")) stream.next();
        const body = this.#closedBlock("endblock");
        stream.skipIf("name", name);
        return [{ type: "with", values: [], body }];
      }
      case "autoescape":
        this.expression();
        return [{ type: "with", values: [], body: this.#closedBlock("endautoescape") }];
      default:
        return stream.fail(`Encountered unknown tag '${value}'.`);
    }
  }

  #for(): Statement {
    const { stream } = this;
    const target = this.#target(["in"]);
    stream.expect("name", "in");
    const over = this.tuple({ item: () => this.or(), ends: ["recursive"] });
    const test = stream.skipIf("name", "if") ? this.expression() : null;
    const isRecursive = stream.skipIf("name", "recursive");
    const body = this.#block("endfor", "else");
    const otherwise = stream.next().value === "else" ? this.#closedBlock("endfor") : [];
    return { type: "for", loop: { target, over, test, isRecursive, body, otherwise } };
  }

  #if(): Statement {
    const branches: { test: Expression; body: Body }[] = [];
    while (true) {
      const test = this.tuple({ item: () => this.or() });
      branches.push({ test, body: this.#block("elif", "else", "endif") });
      const { value } = this.stream.next();
      if (value === "elif") continue;
      const otherwise = value === "else" ? this.#closedBlock("endif") : [];
      return { type: "if", branches, otherwise };
    }
  }

  #set(): Statement {
    const { stream } = this;
    const target = this.#target([]);
    if (stream.skipIf("operator", "=")) return { type: "set", target, value: this.tuple() };
    const filter = stream.skipIf("operator", "|") ? this.blockFilter() : null;
    return { type: "set-block", target, filter, body: this.#closedBlock("endset") };
  }

  #with(): Statement {
    const values: [Target, Expression][] = [];
    while (!this.stream.is("block_end")) {
      if (values.length > 0) this.stream.expect("operator", ",");
      const target = this.#oneTarget();
      this.stream.expect("operator", "=");
      values.push([target, this.expression()]);
    }
    return { type: "with", values, body: this.#closedBlock("endwith") };
  }

  #callBlock(): Statement {
    const parameters = this.stream.isOperator("(") ? this.#signature() : [];
    const call = this.expression();
    if (call.type !== "call") this.stream.fail("expected call");
    return { type: "call-block", call, parameters, body: this.#closedBlock("endcall") };
  }

  #print(): readonly Statement[] {
    const printed: Statement[] = [];
    while (!this.stream.is("block_end")) {
      if (printed.length > 0) this.stream.expect("operator", ",");
      printed.push({ type: "output", of: this.expression() });
    }
    return printed;
  }

  #signature(): readonly Parameter[] {
    const { stream } = this;
    const parameters: Parameter[] = [];
    stream.expect("operator", "(");
    while (!stream.isOperator(")")) {
      if (parameters.length > 0) stream.expect("operator", ",");
      const { value: name } = stream.expect("name");
      const fallback = stream.skipIf("operator", "=") ? this.expression() : null;
      if (fallback === null && parameters.at(-1)?.fallback) {
        stream.fail("non-default argument follows default argument");
      }
      parameters.push({ name, fallback });
    }
    stream.expect("operator", ")");
    return parameters;
  }

  #target(ends: readonly string[]): Target {
    return this.#toTarget(this.tuple({ item: () => this.#targetPart(), ends }));
  }

  #oneTarget(): Target {
    return this.#toTarget(this.#targetPart());
  }

  /** A name or `namespace.field`; in parentheses, several. */
  #targetPart(): Expression {
    const { following } = this.stream;
    const node = this.primary();
    if (node.type !== "name" || following.value !== "." || !this.stream.skipIf("operator", ".")) {
      return node;
    }
    return { type: "attribute", of: node, name: this.stream.expect("name").value };
  }

  #toTarget(node: Expression): Target {
    if (node.type === "name") return node;
    if (node.type === "attribute" && node.of.type === "name") {
      return { type: "field", namespace: node.of.name, name: node.name };
    }
    if (node.type === "tuple") {
      return { type: "targets", items: node.items.map((item) => this.#toTarget(item)) };
    }
    return this.stream.fail(
      `can't assign to ${node.type}, before ${describe(this.stream.current)}`,
    );
  }
}

/** @throws TemplateError (TemplateSyntaxError) */
export function parseTemplate(template: string): Body {
  try {
    return new Parser(new TokenStream(tokenize(template))).whole();
  } catch (error) {
    if (error instanceof RangeError) fail("TemplateSyntaxError", "it is nested too deep");
    throw error;
  }
}
