// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// FreePorts returns n TCP ports of loopback without a listener. Outgoing connections do not use them either, so they
// are free until another program asks for just these ports.
func FreePorts(t testing.TB, n int) (ports []int) {
	t.Helper()
	const first, end = 10_000, 32_768 // end is where the range for outgoing connections begins
	for tries := 0; len(ports) < n; tries++ {
		port := first + rand.IntN(end-first)
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			defer func() { _ = l.Close() }()
			ports = append(ports, port)
		} else if tries > 100 {
			t.Fatal(err)
		}
	}
	return ports
}
