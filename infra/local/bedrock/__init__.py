"""The loopback Bedrock endpoint: Converse, InvokeModel for embeddings, and Rerank, in a process of its own.

Started by the local stack and by tests (`python -m infra.local.bedrock --port N`); calls nothing outside this machine.
Behind Converse stands a model made of rules, which says so at start, or a small language model (`qwen`) if asked for.
"""
