"""The hash of a graph, written plainly from its definition in hash.md: slow, and without any dependency.

``python hash_reference.py`` compares it with the test vectors in hash_vectors.json. There, a label is a JSON
value; a list stands for a tuple, ``{"bytes": "31"}`` for bytes in hexadecimal and ``{"float": "inf"}`` for a
number.
"""

import hashlib
import json
import struct
from collections import Counter, defaultdict
from pathlib import Path

WORD = 2**64
RECEIVED, OWN, WHOLE = 0x9E3779B97F4A7C15, 0xB7E151628AED2A6A, 0x243F6A8885A308D3
EVERY_RADIUS_UP_TO, RADIUS_BEYOND = 256, 3


def graph_hash(n, edges, node_labels=None, edge_labels=None, *, directed=False):
    """Return the hash of a graph with the nodes 0..n-1; each edge or arc is given once."""
    node_labels = node_labels or [None] * n
    edge_labels = edge_labels or [None] * len(edges)
    signatures, keys = stable_signatures(node_labels, messages_of(edges, edge_labels, directed=directed))
    class_size = Counter(keys)
    successors = defaultdict(set)
    for u, v in edges:
        successors[u].add(v)
        if not directed:
            successors[v].add(u)
    total = (WHOLE, OWN)
    for node in range(n):
        growth = (0, 0)
        if class_size[keys[node]] > 1:
            for h, size in enumerate(rooted_sizes(node, successors, n)):
                growth = absorb(growth, (size, h))
        total = plus(total, join(signatures[node], growth))
    fold = blend(*total, (WHOLE + n) % WORD)
    key = digest(b"twl1 readout", b"twl2" + struct.pack("<Q", 4) + b"size")
    for value in ((int(directed), 0), (n, len(edges) * (1 if directed else 2)), fold):
        key = absorb(key, value)
    return f"twl2:{key[0]:016x}{key[1]:016x}"


def messages_of(edges, edge_labels, *, directed):
    """Return the messages that each node receives: pairs of a sender and a kind."""
    messages = defaultdict(list)
    for (u, v), label in zip(edges, edge_labels, strict=True):
        messages[u].append((v, digest(b"twl1 message", token((label, "out") if directed else label))))
        messages[v].append((u, digest(b"twl1 message", token((label, "in") if directed else label))))
    return messages


def stable_signatures(node_labels, messages):
    """Return the last signature of each node, and the key of its class."""
    keys = [digest(b"twl1 label", token(label)) for label in node_labels]
    while True:
        signatures = []
        for node, key in enumerate(keys):
            total = blend(*key, OWN)
            for sender, kind in messages[node]:
                total = plus(total, join(keys[sender], kind))
            signatures.append(blend(*total, (WHOLE + 1 + len(messages[node])) % WORD))
        times = defaultdict(Counter)
        for key, signature in zip(keys, signatures, strict=True):
            times[key][signature] += 1
        stays = {key: min(found, key=lambda s, found=found: (-found[s], s)) for key, found in times.items()}
        following = [
            key if signature == stays[key] else signature
            for key, signature in zip(keys, signatures, strict=True)
        ]
        if following == keys:
            return signatures, keys
        keys = following


def rooted_sizes(node, successors, n):
    """Return how many nodes lie within 0, 1, 2, … steps of a node, while that number grows."""
    reached, sizes = {node}, [1]
    while n <= EVERY_RADIUS_UP_TO or len(sizes) <= RADIUS_BEYOND:
        reached = reached | {other for each in reached for other in successors[each]}
        if len(reached) == sizes[-1]:
            break
        sizes.append(len(reached))
    return sizes


def token(label):
    """Return the bytes that stand for a label."""
    if label is None:
        return b"N"
    if isinstance(label, bool):
        return b"B1" if label else b"B0"
    if isinstance(label, float):
        return b"F" + struct.pack("<d", label + 0.0)  # -0.0 becomes 0.0
    if isinstance(label, int):
        kind, body = b"I", str(label).encode()
    elif isinstance(label, str):
        kind, body = b"S", label.encode("utf-8", "surrogatepass")
    elif isinstance(label, bytes):
        kind, body = b"Y", label
    else:
        kind, body = b"T", b"".join(map(token, label))
    return kind + struct.pack("<Q", len(body)) + body


def stir(word):
    for _ in range(2):
        word = (word ^ word >> 32) * 0xD6E8FEB86659FD93 % WORD
    return word ^ word >> 32


def blend(a, b, salt):
    a = stir(a ^ salt)
    b = stir((b + a) % WORD)
    a = stir((a + (b << 29) % WORD + (b >> 35)) % WORD)
    return a, b ^ stir((a + salt) % WORD)


def absorb(key, value):
    x, y = blend(*value, 0x6A09E667F3BCC908)
    return blend(key[0] ^ x, (key[1] + y) % WORD, 0xBB67AE8584CAA73B)


def join(key, kind):
    return blend(key[0] ^ kind[0], (key[1] + kind[1]) % WORD, RECEIVED)


def plus(first, second):
    return (first[0] + second[0]) % WORD, (first[1] + second[1]) % WORD


def digest(purpose, data):
    return struct.unpack("<QQ", hashlib.blake2b(data, digest_size=16, person=purpose).digest())


def label_of(value):
    """Return the label that a JSON value stands for."""
    if isinstance(value, dict):
        return bytes.fromhex(value["bytes"]) if "bytes" in value else float(value["float"])
    return tuple(map(label_of, value)) if isinstance(value, list) else value


def hash_of(vector):
    """Return the hash of a test vector."""
    node_labels, edge_labels = (
        None if vector[part] is None else [label_of(value) for value in vector[part]]
        for part in ("node_labels", "edge_labels")
    )
    return graph_hash(vector["n"], vector["edges"], node_labels, edge_labels, directed=vector["directed"])


if __name__ == "__main__":
    vectors = json.loads(Path(__file__).with_name("hash_vectors.json").read_text(encoding="utf-8"))
    wrong = [vector["name"] for vector in vectors if hash_of(vector) != vector["hash"]]
    print(f"{len(vectors) - len(wrong)} of {len(vectors)} test vectors agree", *wrong, sep="\n")
