"""Starts the parts of the stack in order on one event loop, keeps them up, ends them. Called by `LocalStack`."""

import asyncio
import shutil
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from infra.local.bootstrap import BootstrapTarget
from infra.local.database import (
    ensure_database,
    make_password,
    role_urls,
    set_passwords,
    superuser_url,
    upstream_of,
)
from infra.local.faults import FaultRules, FaultServer, WireProxy
from infra.local.functions import EnvironmentSettings, FunctionPool, Outcome
from infra.local.gateway import FunctionUrl, Gateway
from infra.local.jwt_issuer import JwtIssuer
from infra.local.keeper import PostgresKeeper
from infra.local.kms import KmsEndpoint, ReceiptKey
from infra.local.options import REPOSITORY, StackOptions
from infra.local.pollers import QueuePoller
from infra.local.postgres.places import socket_folder
from infra.local.s3 import ObjectFolder, S3Endpoint
from infra.local.schedules import Schedule
from infra.local.sidecar import Sidecar
from infra.local.sqs import QueueService, QueueSettings, SqsEndpoint
from infra.local.state import StateFolder
from infra.local.text_models import endpoint_command, patient, prepare
from infra.local.variables import Addresses, function_variables, inherited, task_root
from infra.local.workflow import WorkflowEndpoint, WorkflowService, as_tasks, machines
from infra.topology import Function, QueueTrigger, ScheduleTrigger

_RECYCLE_EVERY: Final = 5.0


class Supervisor:
    """One running stack. `start` and `stop` once each, on the loop's thread."""

    def __init__(self, options: StackOptions) -> None:
        self.options: Final = replace(options, topology=patient(options.topology, options.local_model))
        self.state: Final = StateFolder(options.state)
        self.addresses: Final = Addresses()
        self.queues: Final = QueueService()
        self.objects: Final = ObjectFolder(self.state.path / "s3")
        self.pools: Final[dict[str, FunctionPool]] = {}
        self.schedules: Final[dict[str, Schedule]] = {}
        self.function_urls: Final[dict[str, str]] = {}
        self.keeper: PostgresKeeper | None = None
        self.bedrock: Sidecar | None = None
        self.fault_server: FaultServer | None = None
        self.wire: WireProxy | None = None
        self.gateway: Final = Gateway(self.options.topology, self.invoke)
        self.port = 0
        self.jwt_port = 0
        self.server_url = ""
        self._pollers: list[QueuePoller] = []
        self._urls: list[FunctionUrl] = []
        self._endpoint = SqsEndpoint(self.queues)
        self.workflows: Final = WorkflowService(machines(), as_tasks(self.invoke))
        self._workflow_endpoint = WorkflowEndpoint(self.workflows)
        self._recycler: asyncio.Task[None] | None = None
        self._undo: list[Callable[[], Awaitable[None]]] = []

    async def start(self) -> None:
        """Brings everything up; what had been started is ended again when one part fails."""
        self.state.acquire()
        self._undo.append(self._release_state)
        try:
            await self._start_parts()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Ends every part, last started first."""
        while self._undo:
            await self._undo.pop()()

    async def invoke(self, name: str, payload: bytes) -> Outcome:
        """Runs one event of a function."""
        return await self.pools[name].invoke(payload)

    async def _start_parts(self) -> None:
        await asyncio.to_thread(prepare, self.options)
        await self._start_queues()
        await self._start_files()
        await self._start_signing()
        await self._start_workflows()
        self._launch_bedrock()
        password = self._place_database()
        await self._start_faults(password)
        self._make_pools()
        # Functions load while the database starts: they connect at their first event, not before.
        warming = [asyncio.create_task(self.pools[name].warm()) for name in self.options.prewarm]
        await self._start_database(password)
        if self.bedrock is not None:
            await self.bedrock.wait_ready()
        await asyncio.gather(*warming)
        await self._start_triggers()

    async def _start_queues(self) -> None:
        self.addresses.sqs = await self._endpoint.start()
        self._on_stop(self._endpoint.stop)
        for queue in self.options.topology.queues:
            dead = self.queues.create(queue.dead_letter_name, QueueSettings(retention=queue.dead_letter_retention))
            visibility = self.options.visibility.get(queue.name, queue.visibility)
            settings = QueueSettings(visibility, retention=queue.retention, max_receive_count=queue.max_receive_count)
            self.queues.create(queue.name, settings, dead)
            self.addresses.queue_urls[queue.name] = self.queues.url(queue.name)

    async def _start_files(self) -> None:
        if self.options.topology.bucket is not None:
            bucket = self.options.topology.bucket
            self.objects.create_bucket(bucket.name)
            self.objects.expire(bucket.name, bucket.keep_days, bucket.lasting)
            endpoint = S3Endpoint(self.objects)
            self.addresses.s3 = await endpoint.start()
            self._on_stop(endpoint.stop)

    async def _start_signing(self) -> None:
        if any(function.signs for function in self.options.topology.functions):
            endpoint = KmsEndpoint(ReceiptKey(self.state.path / "kms"))
            self.addresses.kms = await endpoint.start()
            self._on_stop(endpoint.stop)

    async def _start_workflows(self) -> None:
        self.addresses.workflows = await self._workflow_endpoint.start()
        self._undo.append(self._workflow_endpoint.close)

    def _launch_bedrock(self) -> None:
        if not self.options.bedrock or self.options.bedrock_aws:
            return
        directory = REPOSITORY
        self.bedrock = Sidecar(
            "The Bedrock endpoint",
            endpoint_command(self.options),
            ready_path="/__stub__/stats",
            directory=directory,
            log=self._log("bedrock"),
            on_launch=self.state.remember,
        )
        self.bedrock.launch(inherited() | {"PYTHONPATH": str(directory / "shared")})
        self.addresses.bedrock = self.bedrock.url
        self._undo.append(self.bedrock.stop)

    def _place_database(self) -> str | None:
        """Settles where the database will be, before it runs; a password where the server is not ours."""
        if self.options.database_url is not None:
            self.server_url = self.options.database_url
            return make_password()
        self.keeper = PostgresKeeper(self.state.path / "postgres", self._log("postgres"), durable=self.options.durable)
        self.server_url = self.keeper.server.url()
        self._undo.append(self.keeper.stop)
        return None

    async def _start_faults(self, password: str | None) -> None:
        if self.options.faults:
            folder = socket_folder(self.state.path / "wire", None)
            self._on_stop(lambda: shutil.rmtree(folder, ignore_errors=True))
            self.wire = wire = WireProxy(folder, upstream_of(self.server_url))
            await wire.start()
            self._on_stop(wire.stop)
            self.fault_server = FaultServer(FaultRules(), lambda pid: _discard(wire.cut(pid)))
            self.addresses.faults = await self.fault_server.start()
            self._on_stop(self.fault_server.stop)
        self.addresses.database_urls |= role_urls(self.server_url, self.wire, password)

    def _make_pools(self) -> None:
        for function in self.options.topology.functions:
            self.pools[function.name] = pool = FunctionPool(self._environment_settings(function))
            self._undo.append(pool.stop)

    def _environment_settings(self, function: Function) -> EnvironmentSettings:
        options, limits = self.options, self.options.topology.http
        settings = EnvironmentSettings(
            name=function.name,
            task_root=task_root(function, options),
            handler=function.handler,
            timeout=function.timeout,
            memory=function.memory,
            variables=function_variables(function, options, self.addresses),
            log=self._log(function.name),
            concurrency=min(function.max_concurrency, options.concurrency),
            keep_warm=int(function.is_api),
            freeze=options.freeze and sys.platform == "linux",  # a frozen orphan would stay where nothing ends it
            idle_seconds=options.idle_seconds,
            plain_runtime=options.plain_runtime or sys.platform != "linux",
            request_bytes=limits.event_bytes,
            response_bytes=limits.answer_bytes,
        )
        if options.mounted is None:
            return settings
        python, path = options.mounted.interpreter(), options.mounted.search_path(function)
        return replace(settings, interpreter=python, search_path=path)

    async def _start_database(self, password: str | None) -> None:
        if self.keeper is not None:
            await self.keeper.start()
        url = superuser_url(self.server_url)
        await asyncio.to_thread(ensure_database, self.server_url)
        target = BootstrapTarget(url, self.options.dev_tenant, self.options.repository)
        await asyncio.to_thread(self.options.bootstrap, target)
        if password is not None:
            await asyncio.to_thread(set_passwords, url, password)

    async def _start_triggers(self) -> None:
        topology, options = self.options.topology, self.options
        for function, trigger in topology.each(QueueTrigger):
            pool, queue = self.pools[function.name], self.queues.queues[trigger.queue]
            bounded = replace(trigger, max_concurrency=min(trigger.max_concurrency, pool.settings.concurrency))
            poller = QueuePoller(queue, bounded, pool.invoke, options.redelivery)
            poller.start()
            self._undo.append(poller.stop)
        for function, tick in topology.each(ScheduleTrigger):
            every = options.schedules.get(tick.name, tick.every)
            schedule = self.schedules[tick.name] = Schedule(tick.name, every, self.pools[function.name].invoke)
            if every > 0:
                schedule.start()
                self._undo.append(schedule.stop)
        for function in topology.functions:
            if function.function_url:
                door = FunctionUrl(function.name, topology.http, self.invoke)
                self.function_urls[function.name] = f"http://127.0.0.1:{await door.start()}"
                self._on_stop(door.stop)
        self.port = await self.gateway.start(options.port)
        self._on_stop(self.gateway.stop)
        if options.jwt is not None:
            await self._start_token_api(options.jwt)
        self._recycler = asyncio.create_task(self._recycle())
        self._on_stop(self._recycler.cancel)

    async def _start_token_api(self, issuer: JwtIssuer) -> None:
        from infra.local.gateway.authorizer import JwtAuthorizer

        authorizer = JwtAuthorizer(issuer)
        await authorizer.start()
        gateway = Gateway(self.options.topology, self.invoke, authorizer)
        self.jwt_port = await gateway.start(self.options.port and self.options.port + 1)
        self._on_stop(gateway.stop)

    async def _recycle(self) -> None:
        while True:
            await asyncio.sleep(min(_RECYCLE_EVERY, self.options.idle_seconds))
            for pool in self.pools.values():
                pool.recycle(time.monotonic())

    def _log(self, name: str) -> Path:
        return self.state.logs / f"{name}.log"

    def _on_stop(self, call: Callable[[], object]) -> None:
        async def undo() -> None:
            call()

        self._undo.append(undo)

    async def _release_state(self) -> None:
        self.state.release()


def _discard(_: object) -> None:
    """Drops a result nobody asked for."""
