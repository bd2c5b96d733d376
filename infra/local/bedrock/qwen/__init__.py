"""A small real language model behind Converse: Qwen2.5-Coder-1.5B-Instruct (Q4_K_M) under llama.cpp, offline.

Chosen with HINDSIGHT_LOCAL_MODEL=qwen. It proves prompts, schemas and plumbing with a model that really reads, and is
too small to show what the product is worth. `app` asks it through `speaker`; nothing here calls beyond this machine.
"""
