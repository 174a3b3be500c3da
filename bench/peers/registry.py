"""Which tools there are to compare with, and Headway itself."""

from bench.peers.aiperf import AIPERF
from bench.peers.guidellm import GUIDELLM
from bench.peers.headway import HEADWAY
from bench.peers.inference_perf import INFERENCE_PERF
from bench.peers.peer import Peer
from bench.peers.vllm import VLLM

PEERS: dict[str, Peer] = {p.name: p for p in (VLLM, AIPERF, GUIDELLM, INFERENCE_PERF)}
TOOLS: dict[str, Peer] = {HEADWAY.name: HEADWAY} | PEERS
