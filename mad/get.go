// SPDX-License-Identifier: Apache-2.0

package mad

import "context"

// attributeOf constrains a type to a pointer to T that is an [Attribute].
type attributeOf[T any] interface {
	*T
	Attribute
}

// Get reads the attribute T by directed route:
//
//	info, err := mad.Get[mad.PortInfo](ctx, client, path, port)
func Get[T any, P attributeOf[T]](ctx context.Context, c *Client, path Path, mod uint32) (T, error) {
	var a T
	err := c.ask(ctx, &Request{Attr: P(&a).AttrID(), Mod: mod, Path: path}, P(&a))
	return a, err
}

// Set writes an attribute by directed route. It returns the new value of the attribute from the answer.
func Set[T any, P attributeOf[T]](ctx context.Context, c *Client, path Path, mod uint32, a T) (T, error) {
	req := Request{Mod: mod, Path: path}
	req.Set(P(&a))
	err := c.ask(ctx, &req, P(&a))
	return a, err
}

// gsiAttributeOf constrains a type to a pointer to T that is a [GSIAttribute].
type gsiAttributeOf[T any] interface {
	*T
	GSIAttribute
}

// PerfRequest returns a performance management request that is sent by LID and SL:
//
//	req := mad.PerfRequest(mad.MethodGet, lid, sl, &mad.PortCounters{PortSelect: port})
//
// The attribute selects the port and, for a Set, the counters to clear.
func PerfRequest(m Method, lid uint16, sl uint8, a GSIAttribute) Request {
	req := Request{Class: ClassPerf, Method: m, Attr: a.AttrID(), LID: lid, SL: sl}
	var buf [Size]byte
	b, _ := a.AppendBinary(buf[:0]) // does not fail
	copy(req.Data[:], b)
	if len(b) > DataSize && m != MethodGet { // the beginning is enough for a Get
		req.GSI = new(GSI)
		copy(req.GSI.Body.Perf(), b)
	}
	return req
}

// Perf sends a performance management request by LID and SL and returns the answer. The argument a selects the port
// and, for a Set, the counters to clear. A Set returns the new values:
//
//	counters, err := mad.Perf(ctx, client, mad.MethodGet, lid, sl, mad.PortCounters{PortSelect: port})
func Perf[T any, P gsiAttributeOf[T]](ctx context.Context, c *Client, m Method, lid uint16, sl uint8, a T) (T, error) {
	req := PerfRequest(m, lid, sl, P(&a))
	err := c.Ask(ctx, &req, func(r *Reply) error { return r.Decode(P(&a)) })
	return a, err
}

func (c *Client) ask(ctx context.Context, req *Request, a Attribute) error {
	data, err := c.Do(ctx, req)
	if err != nil {
		return err
	}
	return a.UnmarshalBinary(data[:])
}

// NodeInfo reads the NodeInfo of the node at the end of path.
func (c *Client) NodeInfo(ctx context.Context, path Path) (NodeInfo, error) {
	return Get[NodeInfo](ctx, c, path, 0)
}

// PortInfo reads the PortInfo of a port of the node at the end of path.
func (c *Client) PortInfo(ctx context.Context, path Path, port uint8) (PortInfo, error) {
	return Get[PortInfo](ctx, c, path, uint32(port))
}

// SMInfo reads the SMInfo of the port at the end of path.
func (c *Client) SMInfo(ctx context.Context, path Path) (SMInfo, error) {
	return Get[SMInfo](ctx, c, path, 0)
}
