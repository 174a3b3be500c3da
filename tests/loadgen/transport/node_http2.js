// An HTTP/2 server that is not ours: Node's, on nghttp2.  node node_http2.js [KEY CERTIFICATE]
// Prints its port; ends with its standard input.  The path's last word says what an answer does.
const fs = require("fs");
const http2 = require("http2");

const EVENTS = 5;

function answer(stream, path, received) {
  stream.respond({ ":status": 200, "content-type": "text/event-stream", "x-received": `${received}` });
  let k = 0;
  const timer = setInterval(() => {
    stream.write(`data: ${k}\n\n`);
    if (k === 1 && path === "/farewell") stream.session.close(); // GOAWAY; open streams finish
    if (k === 1 && path === "/broken") {
      clearInterval(timer);
      stream.session.destroy();
    }
    k += 1;
    if (k < EVENTS) return;
    clearInterval(timer);
    stream.end("data: [DONE]\n\n");
  }, 5);
}

const [key, cert] = process.argv.slice(2).map((file) => fs.readFileSync(file));
const server = key ? http2.createSecureServer({ key, cert, allowHTTP1: false }) : http2.createServer();
server.on("sessionError", () => {});
server.on("stream", (stream, headers) => {
  let received = 0;
  stream.on("error", () => {});
  stream.on("data", (piece) => (received += piece.length));
  stream.on("end", () => answer(stream, headers[":path"], received));
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.on("end", () => process.exit()).resume();
