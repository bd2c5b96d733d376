"""The topology as CloudFormation: two stacks, one with what holds data and one with what can be made again.

Called by infra/app.py. Reads infra/topology.py and its own typed configuration; nothing here needs an account, the
CDK command line, Docker or a network. Importing a module that needs the CDK requires `node.use_bundled_node()` first.
"""
