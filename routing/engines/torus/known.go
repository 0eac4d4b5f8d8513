// SPDX-License-Identifier: Apache-2.0

package torus

import (
	"context"
	"errors"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// Known is what a subnet was recognised as, which it stays through failures so that switches keep their
// coordinates and paths their SLs. The zero value knows nothing yet.
type Known struct {
	conf   *Config
	fabric *fabric.Fabric
}

// Of is what a subnet is, or was before switches of it were lost; nil where it is no torus.
func (k *Known) Of(ctx context.Context, base *fabric.Fabric) (*Config, error) {
	if k.conf != nil && k.had(base) {
		return k.conf, nil
	}
	*k = Known{}
	conf, err := RecogniseForFailures(ctx, base)
	if _, refused := errors.AsType[*routing.RefusedError](err); refused {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	*k = Known{conf, base}
	return conf, nil
}

// had reports whether all switches of f were there when the torus was recognised.
func (k *Known) had(f *fabric.Fabric) bool {
	for sw := range f.Switches {
		n := f.SwitchNode(fabric.SwitchIndex(sw))
		if !n.InSubnet {
			continue
		}
		old := k.fabric.SwitchByGUID(n.GUID)
		if old == fabric.None || !k.fabric.SwitchNode(old).InSubnet {
			return false
		}
	}
	return true
}
