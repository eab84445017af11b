import { crc32, deflateSync, inflateSync } from 'node:zlib';

const signature = Buffer.from('89504e470d0a1a0a', 'hex');
const colours = 256;

/** A picture of the browser, with at most 256 colours: a user interface has few, and the file shrinks to a third. */
export function smallPng(png: Uint8Array): Uint8Array {
  const { width, height, channels, data } = readChunks(Buffer.from(png));
  const pixels = unfilter(inflateSync(data), width * channels, height, channels);
  const counts = new Map<number, number>();
  for (let at = 0; at < pixels.length; at += channels) {
    const colour = pixels.readUIntBE(at, 3);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, colours)
    .map(([colour]) => colour);
  const indexes = new Map(palette.map((colour, index) => [colour, index]));
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const colour = pixels.readUIntBE((y * width + x) * channels, 3);
      let index = indexes.get(colour);
      if (index === undefined) {
        index = nearest(palette, colour);
        indexes.set(colour, index);
      }
      rows[y * (width + 1) + 1 + x] = index;
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits, each the index of a colour.
  header.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', Buffer.concat(palette.map(bytesOf))),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function readChunks(png: Buffer) {
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  // Colour type 2 is RGB, 6 has transparency too.
  return { width, height, channels: png[25] === 6 ? 4 : 3, data: Buffer.concat(parts) };
}

/** Undoes the filters of RFC 2083 §6. */
function unfilter(raw: Buffer, stride: number, height: number, channels: number): Buffer {
  const pixels = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)];
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x;
      const left = x < channels ? 0 : pixels[at - channels]!;
      const up = y === 0 ? 0 : pixels[at - stride]!;
      const corner = x < channels || y === 0 ? 0 : pixels[at - stride - channels]!;
      const predicted = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter ?? 0] ?? 0;
      pixels[at] = raw[y * (stride + 1) + 1 + x]! + predicted;
    }
  }
  return pixels;
}

function paeth(left: number, up: number, corner: number): number {
  const [a, b, c] = [left, up, corner].map((one) => Math.abs(left + up - corner - one)) as [
    number,
    number,
    number,
  ];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}

const bytesOf = (colour: number): Buffer => Buffer.from([colour >> 16, (colour >> 8) & 255, colour & 255]);

function nearest(palette: readonly number[], colour: number): number {
  const [r, g, b] = bytesOf(colour) as unknown as [number, number, number];
  const distances = palette.map((one) => {
    const [red, green, blue] = bytesOf(one) as unknown as [number, number, number];
    return (red - r) ** 2 + (green - g) ** 2 + (blue - b) ** 2;
  });
  return distances.indexOf(Math.min(...distances));
}

function chunk(type: string, body: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), body]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(body.length, 0);
  ends.writeUInt32BE(crc32(typed), 4);
  return Buffer.concat([ends.subarray(0, 4), typed, ends.subarray(4)]);
}
