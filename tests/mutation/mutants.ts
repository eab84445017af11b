import { parseSync } from 'oxc-parser';

/** One fault in a file: what stands from `start` to `end` is replaced. */
export interface Mutant {
  readonly file: string;
  readonly line: number;
  /** The text of that line. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** What was there, on one line and shortened. */
  readonly original: string;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

type Change = readonly [node: { readonly start: number; readonly end: number }, replacement: string];

const flipped: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '??': '&&',
  '+': '-',
  '-': '+',
  '<<': '>>',
  '>>': '<<',
};

/** Faults that somebody may make in `source`, in the order of the text. */
export function mutantsOf(file: string, source: string): readonly Mutant[] {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`);
  const mutants: Mutant[] = [];
  walk(program as unknown as Node, (node, parent) => {
    for (const [{ start, end }, replacement] of changes(node, parent, source)) {
      const line = source.slice(0, start).split('\n').length;
      const text = source.split('\n', line)[line - 1]!.trim();
      const original = shortened(source.slice(start, end));
      mutants.push({ file, line, text, start, end, replacement, original });
    }
  });
  return mutants.toSorted((a, b) => a.start - b.start || a.end - b.end);
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

function walk(node: Node, visit: (node: Node, parent: Node | undefined) => void, parent?: Node): void {
  // Types are gone when the code runs.
  if (node.type.startsWith('TS') && !/^TS(As|Satisfies|NonNull)/.test(node.type)) return;
  if (node.type === 'ImportDeclaration' || isMessage(node, parent)) return;
  visit(node, parent);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) walk(child, visit, node);
  }
}

/** Tests do not depend on how long a piece of the input is that an error message quotes. */
const isMessage = (node: Node, parent: Node | undefined): boolean =>
  node.type === 'TemplateLiteral' &&
  parent?.type === 'NewExpression' &&
  (parent.callee as Node).name === 'Fault';

function changes(node: Node, parent: Node | undefined, source: string): readonly Change[] {
  const text = (part: Node): string => source.slice(part.start, part.end);
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
      return operator(node, source);
    case 'IfStatement': {
      const test = node.test as Node;
      const guards = /^(Throw|Return|Continue|Break)/.test(bodyOf(node.consequent as Node)?.type ?? '');
      return [[test, `!(${text(test)})`], ...(guards ? ([[test, `false && (${text(test)})`]] as const) : [])];
    }
    case 'ConditionalExpression':
      return [[node.test as Node, `!(${text(node.test as Node)})`]];
    case 'Literal':
      return literal(node, parent);
    case 'Property':
      // What a write or a query is guarded by.
      return (node.key as Node).name === 'where' && node.shorthand !== true
        ? [[node.value as Node, guardless(node.value as Node)]]
        : [];
    case 'ArrayExpression':
      return (node.elements as readonly unknown[]).length > 0 && parent?.type !== 'TSAsExpression'
        ? [[node, '[]']]
        : [];
    case 'ExpressionStatement':
      return isCall(node.expression as Node) ? [[node, ';']] : [];
    case 'AwaitExpression':
      return parent?.type === 'ExpressionStatement' ? [[node, `void ${text(node.argument as Node)}`]] : [];
    case 'UnaryExpression':
      return node.operator === '!' ? [[node, `(${text(node.argument as Node)})`]] : [];
    case 'CallExpression':
      return call(node, text);
    default:
      return [];
  }
}

function operator(node: Node, source: string): readonly Change[] {
  const other = flipped[String(node.operator)];
  if (other === undefined) return [];
  const left = node.left as Node;
  const right = node.right as Node;
  // Text is joined, not added.
  if (/[+]/.test(String(node.operator)) && [left, right].some(isText)) return [];
  const between = source.slice(left.end, right.start);
  const at = left.end + between.indexOf(String(node.operator));
  return [[{ start: at, end: at + String(node.operator).length }, other]];
}

const isText = ({ type, value }: Node): boolean =>
  type === 'TemplateLiteral' || (type === 'Literal' && typeof value === 'string');

function literal({ value, start, end, raw }: Node, parent: Node | undefined): readonly Change[] {
  const at = { start, end };
  if (typeof value === 'boolean') return [[at, String(!value)]];
  if (typeof value !== 'number' || (parent?.type === 'Property' && parent.key === undefined)) return [];
  if (!/^[\d_]+$/.test(String(raw))) return [[at, `(${raw} + 1)`]];
  return value === 0
    ? [[at, '1']]
    : [
        [at, `${value + 1}`],
        [at, `${value - 1}`],
      ];
}

/** An object of conditions becomes one without any, a list too. */
const guardless = ({ type }: Node): string => (type === 'ArrayExpression' ? '[]' : '{}');

const swaps = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
]);

function call(node: Node, text: (part: Node) => string): readonly Change[] {
  const callee = node.callee as Node;
  if (callee.type !== 'MemberExpression' || callee.computed === true) return [];
  const property = callee.property as Node;
  const other = swaps.get(String(property.name));
  if (other !== undefined) return [[property, other]];
  // A list that is no longer filtered.
  if (property.name === 'filter') return [[node, text(callee.object as Node)]];
  return [];
}

function isCall(expression: Node): boolean {
  const { type } = expression;
  return type === 'CallExpression' || (type === 'AwaitExpression' && isCall(expression.argument as Node));
}

function bodyOf(statement: Node): Node | undefined {
  if (statement.type !== 'BlockStatement') return statement;
  return (statement.body as readonly Node[]).at(-1);
}

function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 80 ? `${line.slice(0, 77)}...` : line;
}
