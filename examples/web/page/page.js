// SPDX-License-Identifier: LGPL-2.1-or-later
// What is seen: who sits where, whose voice is separate, what the network allows.
'use strict';

const $ = id => document.getElementById(id);
const HISTORY = 120;            // pictures of half a second
const STEP = 0.06;              // of an arrow key
const DRAW_MS = 50;
const LISTEN = 'none';          // of the microphones
const WHY = {NotFoundError: 'there is no microphone here',
  NotAllowedError: 'the browser was not allowed to use the microphone',
  NotReadableError: 'the microphone is in use elsewhere'};
// What tfrcrate's reasons say to people
const CAUSES = {'start': 'it is being found out', 'down-loss': 'packets were lost',
  'down-limit': 'less arrived than was sent', 'down-delay': 'a queue grew',
  'down-no-feedback': 'your browser fell silent'};
const SPARE_BPS = 60000;        // more than a voice takes
const people = new Map();       // SSRC: {name, x, y, item, face, pin, mixed}
let sound, seat, events, picture, history = [], joining = false;

// --- the door

// A browser tells what there is only after it was allowed to use one of them.
async function listMicrophones() {
  const found = await navigator.mediaDevices?.enumerateDevices() ?? [];
  const list = $('microphone'), listed = [...list.options].map(o => o.value);
  for (const d of found.filter(d => d.kind === 'audioinput' && d.label))
    if (!listed.includes(d.deviceId))
      list.add(new Option(d.label, d.deviceId), list.lastElementChild);
}

async function join() {
  $('wrong').textContent = '';
  try {
    sound = new Sound(ssrc => people.has(ssrc));
    if ($('microphone').value === LISTEN) showMicrophone('as you chose');
    else await openMicrophone($('microphone').value);
    const reply = await ask('POST', '/seats', JSON.stringify({name: $('name').value}),
      {Authorization: 'Bearer ' + encodeURIComponent($('secret').value)});
    seat = reply.headers.get('Location');
    const {offer, iceServers} = await reply.json();
    await ask('PATCH', seat, await sound.answer(offer, iceServers),
      {'Content-Type': 'application/sdp'});
  } catch (error) {
    $('wrong').textContent = error.message;
    sound?.close();
    return;
  }
  localStorage.name = $('name').value;
  $('door').hidden = true;
  $('room').hidden = false;
  firstButton().focus();
  events = new EventSource(seat + '/events');
  events.onmessage = message => show(JSON.parse(message.data));
  events.onerror = () => events.readyState === EventSource.CLOSED && leave('The room has closed.');
  requestAnimationFrame(draw);
}

// Whoever has no microphone, or does not give it, listens.  @why: no voice is sent
async function openMicrophone(id) {
  let why;
  try {
    await sound.open(id);
    sound.mute(isMuted());
    await listMicrophones();
  } catch (error) {
    why = WHY[error.name] ?? error.message;
  }
  showMicrophone(why);
}

function showMicrophone(why) {
  $('mute').hidden = why !== undefined;
  $('talk').hidden = $('listening').hidden = why === undefined;
  $('listening').textContent = why === undefined ? '' : `You only listen: ${why}.`;
}

const isMuted = () => $('mute').getAttribute('aria-pressed') === 'true';
const firstButton = () => $('mute').hidden ? $('talk') : $('mute');

// What somebody typed by hand need not be a link's
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function ask(method, path, body, headers) {
  const reply = await fetch(path, {method, body, headers});
  if (!reply.ok) {
    const why = await reply.json().catch(() => ({error: reply.statusText}));
    throw new Error(`${why.error} (${reply.status})`);
  }
  return reply;
}

function leave(why) {
  events?.close();
  sound?.close();
  if (seat) navigator.sendBeacon(seat + '/leave');
  seat = null;
  for (const ssrc of [...people.keys()]) remove(ssrc);
  $('room').hidden = true;
  $('door').hidden = false;
  $('wrong').textContent = why ?? '';
  $('name').focus();
}

// --- who sits where

// The places are remembered by name, for the first one of that name.  A new face takes the freest of eight seats, or of
// all the round when they are taken.
function placeFor(name) {
  try {
    const known = JSON.parse(localStorage['place ' + name]);
    const isFirst = [...people.values()].every(p => p.name !== name);
    if (isFirst && Number.isFinite(known.x) && Number.isFinite(known.y)) return known;
  } catch { /* none yet */ }
  return freest(8, 0.3) ?? freest(113, 0);
}

// Of n places around the table, if nobody sits nearer to it than that, in radians.  The
// round is open where the listener sits.
function freest(n, least) {
  const round = angle => angle < -Math.PI / 2 ? angle + 2 * Math.PI : angle;
  const taken = [...people.values()].map(p => round(Math.atan2(p.y, p.x)));
  let best, most = least;
  for (let k = 0; k < n; k++) {
    const angle = Math.PI * (1.12 - 1.24 * k / (n - 1));
    const nearest = Math.min(9, ...taken.map(other => Math.abs(other - angle)));
    if (nearest > most + 1e-6)
      [best, most] = [{x: Math.cos(angle), y: Math.sin(angle)}, nearest];
  }
  return best;
}

function add(ssrc, name) {
  const item = document.createElement('li');
  const face = document.createElement('button');
  const label = document.createElement('span');
  const pin = document.createElement('button');
  const person = {name, ...placeFor(name), item, face, pin, mixed: false};
  item.className = 'person';
  face.className = 'face';
  face.textContent = [...name][0]?.toUpperCase() ?? '?';
  // screen readers leave the arrow keys to a slider, and tell its value
  face.setAttribute('role', 'slider');
  face.setAttribute('aria-valuemin', 0);
  face.setAttribute('aria-valuemax', 230);
  label.className = 'name';
  label.ariaHidden = true;
  label.textContent = name;
  pin.className = 'pin';
  pin.textContent = 'keep';
  pin.onclick = () => wish(ssrc, pin.getAttribute('aria-pressed') !== 'true');
  item.append(face, label, pin);
  face.onpointerdown = event => drag(event, person);
  face.onkeydown = event => nudge(event, person);
  $('people').append(item);
  people.set(ssrc, person);
  tell(name, 'here now');
}

function remove(ssrc) {
  const {name, item} = people.get(ssrc), focused = item.contains(document.activeElement);
  tell(name, 'gone');
  item.remove();
  people.delete(ssrc);
  if (focused) firstButton().focus();       // or nobody knows where the next key goes
}

function moveTo(person, x, y) {
  const reach = Math.hypot(x, y), most = 1.15;
  [person.x, person.y] = reach > most ? [x * most / reach, y * most / reach] : [x, y];
  localStorage['place ' + person.name] = JSON.stringify({x: person.x, y: person.y});
  arrange();
}

function drag(event, person) {
  const box = $('table').getBoundingClientRect();
  const move = e => moveTo(person, (e.clientX - box.left) / box.width * 2.7 - 1.35,
    1.2 - (e.clientY - box.top) / box.height * 2.4);
  person.face.setPointerCapture(event.pointerId);
  person.item.classList.add('dragged');
  person.face.onpointermove = move;
  person.face.onpointerup = person.face.onpointercancel = () => {
    person.face.onpointermove = null;
    person.item.classList.remove('dragged');
  };
}

function nudge(event, person) {
  const step = {ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, STEP],
    ArrowDown: [0, -STEP]}[event.key];
  if (!step) return;
  event.preventDefault();
  moveTo(person, person.x + step[0], person.y + step[1]);
}

async function wish(ssrc, separate) {
  await ask('POST', seat + '/wishes', JSON.stringify({ssrc, separate})).catch(() => {});
}

// Separate voices at their places, mixed ones together in the middle
function arrange() {
  const mixed = [...people.values()].filter(p => p.mixed);
  $('group').hidden = mixed.length === 0;
  $('group').firstElementChild.textContent =
    mixed.length === 1 ? 'one voice, mixed' : `${mixed.length} voices in one mix`;
  const radius = mixed.length > 1 ? 9 + 1.5 * mixed.length : 0;        // % of the table
  $('group').style.width = $('group').style.height = 18 + 2 * Math.max(14, radius) + '%';
  for (const p of people.values()) {
    const n = mixed.indexOf(p), angle = 2 * Math.PI * n / mixed.length - Math.PI / 2;
    const left = p.mixed ? 50 + radius * Math.cos(angle) : (p.x + 1.35) / 2.7 * 100;
    const top = p.mixed ? 47 + radius * Math.sin(angle) : (1.2 - p.y) / 2.4 * 100;
    p.item.style.left = left + '%';
    p.item.style.top = top + '%';
    p.item.classList.toggle('mixed', p.mixed);
    p.face.setAttribute('aria-label', `${p.name}, ${p.mixed ? 'mixed with others' : 'separate'}`);
    p.face.setAttribute('aria-valuenow', Math.round(100 * p.x) + 115);
    p.face.setAttribute('aria-valuetext', where(p));
  }
}

// --- what the server tells

// Of one picture all that is new is said at once: what is said later takes its place
let news = [];

function tell(name, what) {
  const same = news.find(piece => piece.what === what);
  if (same) same.names.push(name);
  else news.push({names: [name], what});
}

function say() {
  if (news.length === 0) return;
  $('news').textContent = news.map(({names, what}) => `${all(names)}: ${what}.`).join(' ');
  news = [];
}

const all = names =>
  (names.length > 1 ? `${names.slice(0, -1).join(', ')} and ` : '') + names.at(-1);

const where = ({x, y}) => percent(x, 'right', 'left') + ', ' + percent(y, 'ahead', 'behind');
const percent = (x, more, less) => `${Math.abs(Math.round(100 * x))} % ${x < 0 ? less : more}`;

function show(next) {
  picture = next;
  const {you} = next, there = new Set(next.people.map(p => p.ssrc));
  for (const ssrc of [...people.keys()]) if (!there.has(ssrc)) remove(ssrc);
  for (const {ssrc, name} of next.people) {
    if (people.has(ssrc) && people.get(ssrc).name !== name) remove(ssrc);
    if (!people.has(ssrc)) add(ssrc, name);
    const person = people.get(ssrc), mixed = you.mixed.includes(ssrc);
    if (mixed !== person.mixed) tell(name, mixed ? 'mixed now' : 'separate now');
    person.mixed = mixed;
    person.pin.setAttribute('aria-pressed', you.wishes.includes(ssrc));
    person.pin.setAttribute('aria-label', `Keep ${name} separate`);
    person.pin.title = `Keep ${name} separate, for you alone`;
  }
  arrange();
  say();
  if (sound) sound.up = you.up;
  const because = why(you);
  if ($('why').textContent !== because) $('why').textContent = because;
  const {listeners} = next;
  $('listeners').textContent = listeners.length === 0 ? '' :
    `${all(listeners)} only ${listeners.length > 1 ? 'listen' : 'listens'}.`;
  history = [...history, you].slice(-HISTORY);
  chart(you);
}

// Why not all are separate
function why({separate, mixed, held, target, sent, slots, state, cause}) {
  if (state === 'probing' || state === 'stopped')
    return 'Nothing is sent: your browser does not answer.';
  if (held.length) return 'Not even a mix of all has room in your connection.';
  if (mixed.length === 0) return '';
  if (separate.length >= slots - 1)
    return `Who is mixed finds no place: your browser has ${slots}.`;
  if (target > sent + SPARE_BPS)
    return 'There is room: who is mixed comes apart when it lasts.';
  return `Mixed: your connection has room for ${kbps(target)} only` +
    (CAUSES[cause] ? ` (${CAUSES[cause]}).` : '.');
}

const kbps = bps => `${(bps / 1000).toFixed(0)} kbit/s`;
const figure = (what, text) => `<span><i class="key ${what}-key"></i>${text}</span> `;

function chart(you) {
  const most = Math.max(100e3, ...history.map(h => Math.max(h.sent, Math.min(h.target, 1.5e6))));
  const slow = Math.max(100, ...history.map(h => h.rtt));
  const x = n => 300 - (history.length - 1 - n) * 300 / (HISTORY - 1);
  const line = (value, top) => history.map((h, n) =>
    `${x(n).toFixed(1)},${(86 - 80 * Math.min(1, value(h) / top)).toFixed(1)}`).join(' ');
  const losses = history.map((h, n) => h.loss > 0.001 ?
    `<rect class="loss" x="${x(n) - 1}" width="2" y="${86 - 80 * Math.min(1, h.loss * 4)}" height="4"/>` : '');
  $('chart').innerHTML =
    `<polygon class="sent" points="${x(0)},86 ${line(h => h.sent, most)} 300,86"/>` +
    `<polyline class="target" points="${line(h => h.target, most)}"/>` +
    `<polyline class="rtt" points="${line(h => h.rtt, slow)}"/>` + losses.join('');
  $('numbers').innerHTML = figure('target', `<b>${kbps(you.target)}</b> allowed`) +
    figure('sent', `${kbps(you.sent)} used`) +
    figure('rtt', `round trip ${you.rtt.toFixed(0)} ms`) +
    figure('loss', `loss ${(100 * you.loss).toFixed(1)} %`) +
    (you.link ? figure('link', `the link has ${kbps(you.link)}`) : '');
  $('sum').textContent = `${you.separate.length} separate, ${you.mixed.length} mixed`;
}

// --- what is heard, twenty times a second

function draw() {
  if (!seat) return;
  let mix = 0;
  const levels = new Map(), names = sound.heard();
  for (const [n, slot] of sound.slots.entries()) {
    const heard = names[n], level = sound.level(slot.meter);
    const one = heard.length === 1 ? people.get(heard[0]) : null;
    if (one && !one.mixed) {
      sound.move(slot, one.x, one.y);
      levels.set(one, level);
    } else {
      sound.move(slot, 0, 0.8);
      if (heard.length || level > 0.2) mix = Math.max(mix, level);
    }
  }
  for (const p of people.values()) p.face.style.setProperty('--level', levels.get(p) ?? 0);
  $('group').style.setProperty('--level', mix);
  $('me').style.setProperty('--level',
    isMuted() ? 0 : sound.level(sound.mine));
  setTimeout(requestAnimationFrame, DRAW_MS, draw);
}

$('mute').onclick = () => {
  const on = !isMuted();
  $('mute').setAttribute('aria-pressed', on);
  $('mute').textContent = on ? 'Muted' : 'Mute';
  sound.mute(on);
};
$('talk').onclick = async () => {
  const focused = document.activeElement === $('talk');
  await openMicrophone('');
  if (focused) firstButton().focus();
};
$('leave').onclick = () => leave();
$('join').onsubmit = async event => {
  event.preventDefault();
  if (joining) return;          // whoever is impatient would have two seats, and hear nobody
  joining = true;
  await join().finally(() => { joining = false; });
};
addEventListener('pagehide', () => seat && navigator.sendBeacon(seat + '/leave'));
$('name').value = localStorage.name ?? '';
// the secret comes with the link, behind the #, which no server sees
if (location.hash.length > 1) $('secret').value = decoded(location.hash.slice(1));
listMicrophones();
