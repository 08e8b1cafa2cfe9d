"""Resources over the wire: diagnostics, schemes, subscriptions, kinds of paths."""

from __future__ import annotations

from tests.requirements.conftest import Folder, Serve


async def test_a_read_says_how_it_was_done(folder: Folder, serve: Serve) -> None:
    folder.write("resources/note.txt", "a note\n")
    async with serve() as client:
        [listed] = (await client.result("resources/list"))["resources"]
        read = await client.result("resources/read", {"uri": listed["uri"]})
        [content] = read["contents"]
        assert (content["mimeType"], content["text"]) == ("text/plain", "a note\n")
        assert "_meta" in read


async def test_a_scheme_without_a_provider_is_refused(folder: Folder, serve: Serve) -> None:
    template = {"name": "odd", "uriTemplate": "odd://{thing}"}
    folder.write("resources/odd.meta.json", template)
    async with serve() as client:
        assert len((await client.result("resources/templates/list"))["resourceTemplates"]) == 1
        error = await client.error("resources/read", {"uri": "odd://thing"})
        assert (error["code"], error["message"]) == (-32603, "no provider reads this URI")


async def test_an_ended_subscription_is_silent(folder: Folder, serve: Serve) -> None:
    one = folder.write("resources/one.txt", "1")
    two = folder.write("resources/two.txt", "2")
    uris = [path.resolve().as_uri() for path in (one, two)]
    async with serve(checked=False) as client:
        tickets = []
        for uri in uris:
            answer = await client.result("resources/subscribe", {"uri": uri})
            tickets.append(answer["subscriptionId"])
            await client.notification("notifications/resources/updated")
        await client.result("resources/unsubscribe", {"uri": uris[0]})
        one.write_text("changed")
        two.write_text("changed")
        heard = await client.notification("notifications/resources/updated")
        assert heard["params"]["uri"] == uris[1]
        await client.result("resources/unsubscribe", {"subscriptionId": tickets[1]})
        two.write_text("changed again")
        folder.write("resources/three.txt", "3")
        await client.notification("notifications/resources/list_changed")
        updates = [said for said in client.notifications if said["method"].endswith("/updated")]
        assert len(updates) == 3
