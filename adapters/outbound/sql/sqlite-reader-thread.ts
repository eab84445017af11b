import { Database, SQLiteError } from 'bun:sqlite';
import type { Row, SqlValue } from './codec.ts';
import type { Answer, Question } from './sqlite-reader.ts';

declare const self: Worker;

const db = new Database(process.env.DATABASE, { readwrite: true });
db.run('pragma query_only = on');
db.run('pragma busy_timeout = 1000');
db.run('pragma cache_size = -16384');

self.onmessage = ({ data }: { data: Question | 'close' }) => {
  if (data === 'close') {
    db.close();
    process.exit();
  }
  self.postMessage(answer(data.number, data.sql, data.parameters));
};

function answer(number: number, sql: string, parameters: readonly SqlValue[]): Answer {
  try {
    using statement = db.prepare<Row, SqlValue[]>(sql);
    return { number, rows: statement.all(...parameters) };
  } catch (error) {
    const code = error instanceof SQLiteError ? (error.code ?? '') : '';
    return { number, code, message: String(error) };
  }
}
