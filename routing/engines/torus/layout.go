// SPDX-License-Identifier: Apache-2.0

package torus

import (
	"context"

	"example.org/ibconsole/fabric"
)

// Layout is the torus that [Recognise] finds.
func Layout(ctx context.Context, f *fabric.Fabric) (*Torus, error) {
	r, err := recognised(ctx, f)
	if err != nil {
		return nil, err
	}
	return r.best.Torus, nil
}
