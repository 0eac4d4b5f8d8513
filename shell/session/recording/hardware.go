// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"context"
	"fmt"
	"sync"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/shell/session/metrics"
)

// hardwareEvery is the interval at which the folder with the hardware of switches is read if it has changed.
const hardwareEvery = 5 * time.Minute

// hardware reads an ibdiagnet folder again and again, because a timer may refresh it.
type hardware struct {
	folder string
	read   string // the version of the folder that was read
	quit   context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex
	latest *metrics.Hardware
}

// followHardware reads a folder, and reads it again until the caller closes the result. It returns an error if the
// first reading fails. The function failed is called with the errors of later readings.
func followHardware(ctx context.Context, folder string, failed func(error)) (*hardware, error) {
	h := &hardware{folder: folder}
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
	if err != nil {
		return err
	}
	h.read = version
	h.mu.Lock()
	defer h.mu.Unlock()
	h.latest = &metrics.Hardware{Fabric: s.Fabric, Health: s.Health, When: s.When}
	return nil
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
