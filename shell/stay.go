// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/feature/record"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session/recording"
)

// Stay prints the events of all recorded subnets until ctx ends, and then ends the recordings.
func (s *Subnets) Stay(ctx context.Context, out *Output) error {
	var mu sync.Mutex
	var wait sync.WaitGroup
	failed := make([]error, len(s.all))
	for i, n := range s.all {
		if _, running := recording.StatusOf(n.session); !running {
			continue
		}
		its := *out
		its.Subnet = n.name
		its.W = &namedLines{mu: &mu, w: out.W, name: prose.When(out.isJSON(), "", n.name+": ")}
		wait.Go(func() {
			c := &call{Invocation: &lang.Invocation{}, ctx: ctx, out: its.running(), shell: n.Shell, session: n.session}
			if err := record.StayOn(c.feature()); err != nil {
				failed[i] = &SubnetError{n.name, err}
			}
		})
	}
	wait.Wait()
	return errors.Join(failed...)
}

// namedLines writes complete lines with a name before each line. Several namedLines may write to the same writer.
type namedLines struct {
	mu   *sync.Mutex
	w    io.Writer
	name string
	part []byte
}

func (n *namedLines) Write(b []byte) (int, error) {
	n.part = append(n.part, b...)
	end := bytes.LastIndexByte(n.part, '\n') + 1
	if end == 0 {
		return len(b), nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for line := range bytes.Lines(n.part[:end]) {
		if _, err := fmt.Fprintf(n.w, "%s%s", n.name, line); err != nil {
			return 0, err
		}
	}
	n.part = n.part[end:]
	return len(b), nil
}
