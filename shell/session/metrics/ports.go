// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"sync"
)

// Ports controls whether the metrics of devices and ports are exported. If two recorders of a subnet exported them,
// joins on GUIDs would find two matches and fail.
type Ports struct {
	// Never leaves the metrics out.
	Never bool
	// Subnet identifies the subnet. Of all readers of this machine with the same Subnet, the first one exports the
	// metrics. When it ends, the next one that is scraped follows. If Subnet is "", no other reader is considered.
	Subnet string

	mu   sync.Mutex
	lock net.Listener // an abstract socket, held by the reader that exports
}

// exported reports whether this reader exports the metrics.
func (p *Ports) exported(ctx context.Context) bool {
	if p == nil {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Never || p.Subnet == "" || p.lock != nil {
		return !p.Never
	}
	l, err := new(net.ListenConfig).Listen(ctx, "unix",
		fmt.Sprintf("@ibconsole-metrics-%x", sha256.Sum256([]byte(p.Subnet))))
	if err != nil {
		return false
	}
	p.lock = l
	return true
}

// release lets another reader export the metrics.
func (p *Ports) release() error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Never = true
	if p.lock == nil {
		return nil
	}
	return p.lock.Close()
}
