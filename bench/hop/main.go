// A gateway in Go of the usual kind: every tool of one upstream, passed on by mark3labs/mcp-go,
// which is what gateways in Go are made with.
//
//	hop PORT URL
//	hop PORT COMMAND [ARGUMENT...]
package main

import (
	"context"
	"log"
	"os"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func main() {
	ctx := context.Background()
	upstream, err := connected(ctx, os.Args[2:])
	if err != nil {
		log.Fatal(err)
	}
	listed, err := upstream.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		log.Fatal(err)
	}
	gateway := server.NewMCPServer("hop", "1", server.WithToolCapabilities(true))
	tools := make([]server.ServerTool, 0, len(listed.Tools))
	for _, tool := range listed.Tools {
		tools = append(tools, server.ServerTool{Tool: tool, Handler: upstream.CallTool})
	}
	gateway.AddTools(tools...)
	log.Fatal(server.NewStreamableHTTPServer(gateway).Start("127.0.0.1:" + os.Args[1]))
}

func connected(ctx context.Context, words []string) (*client.Client, error) {
	upstream, err := opened(ctx, words)
	if err != nil {
		return nil, err
	}
	hello := mcp.InitializeRequest{}
	hello.Params.ProtocolVersion = "2025-11-25"
	hello.Params.ClientInfo = mcp.Implementation{Name: "hop", Version: "1"}
	_, err = upstream.Initialize(ctx, hello)
	return upstream, err
}

func opened(ctx context.Context, words []string) (*client.Client, error) {
	if !strings.HasPrefix(words[0], "http://") {
		return client.NewStdioMCPClient(words[0], nil, words[1:]...)
	}
	upstream, err := client.NewStreamableHttpClient(words[0])
	if err != nil {
		return nil, err
	}
	return upstream, upstream.Start(ctx)
}
