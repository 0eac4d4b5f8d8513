// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"context"
	"fmt"
	"sync"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/metrics"
)

// hardwareEvery is the interval at which the folder with the hardware of switches is read if it has changed.
const hardwareEvery = 5 * time.Minute

// hardware reads an ibdiagnet folder again and again, because a timer may refresh it.
type hardware struct {
	folder string
	of     *session.Session
	read   string // the version of the folder that was read
	quit   context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex
	latest *metrics.Hardware
}

// followHardware reads a folder, and reads it again until the caller closes the result. It returns an error if the
// first reading fails. The function failed is called with the errors of later readings. A folder without a switch of
// the subnet is an error.
func followHardware(ctx context.Context, folder string, s *session.Session, failed func(error)) (*hardware, error) {
	h := &hardware{folder: folder, of: s}
	if err := h.refresh(ctx); err != nil {
		return nil, err
	}
	ctx, h.quit = context.WithCancel(context.WithoutCancel(ctx))
	h.work.Go(func() {
		ticker := time.NewTicker(hardwareEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if err := h.refresh(ctx); err != nil && ctx.Err() == nil {
					failed(err)
				}
			}
		}
	})
	return h, nil
}

// refresh reads the folder unless it is the same as in the last successful reading.
func (h *hardware) refresh(ctx context.Context) error {
	version := formats.Version(ctx, h.folder)
	if version != "" && version == h.read {
		return nil
	}
	s, err := formats.Read(ctx, h.folder)
	if err == nil && !s.Health.HasNodes() {
		err = fmt.Errorf("%s has no hardware of switches, expected sections such as NODES_INFO and FANS_SPEED",
			fabric.Escape(h.folder))
	}
	if subnet := h.of.State().Live.Fabric; err == nil && len(subnet.Switches) > 0 && len(s.Fabric.Switches) > 0 &&
		foreign(s.Fabric, subnet) == len(s.Fabric.Switches) {
		err = fmt.Errorf("%s is a folder of another subnet: this one has none of its %s", fabric.Escape(h.folder),
			prose.Count(len(s.Fabric.Switches), "switch"))
	}
	if err != nil {
		return err
	}
	h.read = version
	h.mu.Lock()
	defer h.mu.Unlock()
	h.latest = &metrics.Hardware{Fabric: s.Fabric, Health: s.Health, When: s.When}
	return nil
}

// foreign returns the number of switches of a folder that a subnet does not have.
func foreign(folder, subnet *fabric.Fabric) int {
	n := 0
	for _, sw := range folder.Switches {
		if subnet.NodeByGUID(folder.Nodes[sw].GUID) == fabric.None {
			n++
		}
	}
	return n
}

// HardwareWarnings returns the reasons why the hardware in the folder of the recording is not exported, or only a part.
func HardwareWarnings(s *session.Session) (warnings []string) {
	st := s.State()
	now := slot.Of(&st)
	if now == nil || now.folder == nil {
		return nil
	}
	got, folder := now.folder.get(), fabric.Escape(now.folder.folder)
	if age := time.Since(got.When); age > metrics.OldestHardware {
		warnings = append(warnings, fmt.Sprintf("the hardware in %s is not exported: it is of %s, and data older than "+
			"%g hours are not exported", folder, when.Text(got.When), metrics.OldestHardware.Hours()))
	}
	if n := foreign(got.Fabric, st.Live.Fabric); n > 0 {
		warnings = append(warnings, fmt.Sprintf("%d of %s in %s are not in the subnet", n,
			prose.Count(len(got.Fabric.Switches), "switch"), folder))
	}
	return warnings
}

// get returns the last reading, nil for a recording without a folder.
func (h *hardware) get() *metrics.Hardware {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.latest
}

// close ends the readings.
func (h *hardware) close() {
	if h != nil {
		h.quit()
		h.work.Wait()
	}
}
