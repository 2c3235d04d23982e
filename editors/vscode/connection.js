// A client of the language server protocol over a process's standard streams.
'use strict';

const { spawn } = require('child_process');

const PATIENCE_MS = 3000;

class Connection {
  // `onNotification(method, params)` hears what the server says unasked, `onEnd(reason)` its end.
  constructor(command, folder, onNotification, onEnd) {
    this.waiting = new Map();
    this.last = 0;
    this.unread = Buffer.alloc(0);
    this.onNotification = onNotification;
    this.process = spawn(command[0], command.slice(1), { cwd: folder });
    this.ended = new Promise((resolve) => {
      const end = (reason) => {
        for (const { reject } of this.waiting.values()) reject(new Error(reason));
        this.waiting.clear();
        onEnd(reason);
        resolve(reason);
      };
      this.process.on('error', (error) => end(`${command[0]}: ${error.message}`));
      this.process.on('exit', (code) => end(`the server ended with ${code}`));
    });
    this.process.stdin.on('error', () => {}); // it has ended, which is told once
    this.process.stdout.on('data', (data) => this.take(data));
  }

  request(method, params) {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.send({ id, method, params });
    });
  }

  notify(method, params) {
    this.send({ method, params });
  }

  send(message) {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.process.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }

  take(data) {
    this.unread = Buffer.concat([this.unread, data]);
    for (;;) {
      const end = this.unread.indexOf('\r\n\r\n');
      const length = end < 0 ? null : /Content-Length: (\d+)/i.exec(this.unread.toString('ascii', 0, end));
      if (!length || this.unread.length < end + 4 + Number(length[1])) return;
      const stop = end + 4 + Number(length[1]);
      const message = JSON.parse(this.unread.toString('utf8', end + 4, stop));
      this.unread = this.unread.subarray(stop);
      this.hear(message);
    }
  }

  hear(message) {
    if (message.method === undefined) {
      const asked = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (!asked) return;
      if (message.error) asked.reject(new Error(message.error.message));
      else asked.resolve(message.result);
    } else if (message.id === undefined) {
      this.onNotification(message.method, message.params);
    } else { // a request of the server, as for its settings: it gets nothing
      this.send({ id: message.id, result: null });
    }
  }

  // Ends the server as the protocol has it, or by force where it does not end.
  async stop() {
    const late = setTimeout(() => this.process.kill('SIGKILL'), PATIENCE_MS);
    try {
      await this.request('shutdown', null);
      this.notify('exit', null);
    } catch { // it has ended already
    }
    const reason = await this.ended;
    clearTimeout(late);
    return reason;
  }
}

module.exports = { Connection };
