package vulkan

import (
	"context"
	"errors"
	"maps"
	"unsafe"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/gpu"
)

// loaded is a kernel on a device.
type loaded struct {
	*device
	kernel   *gpu.Kernel
	pipeline handle
	facts    map[string]string
}

// Load has the driver compile a kernel.
func (d *device) Load(k *gpu.Kernel) (gpu.Loaded, error) {
	l := &loaded{device: d, kernel: k}
	return l, d.x.Do("compiling a shader", callTime, l.compile)
}

func (l *loaded) compile() error {
	d, code := l.device, []byte(l.kernel.Source)
	var module handle
	m := &shaderModuleCreateInfo{kind: kindShaderModule, size: uint64(len(code)), code: &code[0]}
	if err := check("vkCreateShaderModule", d.createShaderModule(d.device, m, nil, &module)); err != nil {
		return err
	}
	defer d.destroyShaderModule(d.device, module, nil)
	i := &pipelineCreateInfo{kind: kindPipeline, layout: d.pipelineLayout}
	i.stage = stageCreateInfo{kind: kindStage, stage: stageCompute, module: module, name: cString(entry)}
	if d.pinned {
		i.stage.flags, i.stage.next = fullSubgroups, unsafe.Pointer(&requiredSubgroup{kind: kindRequiredSubgroup, size: uint32(d.subgroup)})
	}
	if d.has[featureExecutableInfo] {
		i.flags = captureStatistics | captureTexts
	}
	if err := check("vkCreateComputePipelines", d.createPipelines(d.device, 0, 1, i, nil, &l.pipeline)); err != nil {
		return err
	}
	d.pipelines = append(d.pipelines, l.pipeline)
	if d.has[featureExecutableInfo] {
		var err error
		l.facts, err = d.inspect(l.pipeline)
		return err
	}
	return nil
}

// Facts returns what the driver says about the machine code of the kernel.
func (l *loaded) Facts() map[string]string { return maps.Clone(l.facts) }

// Launch runs the kernel. If it fails or hangs, the input is blamed, unless the device was
// lost before.
func (l *loaded) Launch(ctx context.Context, in, out []byte, tiles int) error {
	if tiles == 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	d := l.device
	known := false
	err := d.x.Do("a launch", d.deadline, func() error {
		known = d.lost
		err := l.launch(in, out, tiles)
		var e *callError
		d.lost = d.lost || errors.As(err, &e) && e.Code == deviceLost
		return err
	})
	var e *callError
	if errors.As(err, &e) && e.Code == deviceLost && !known || errors.As(err, new(*gpu.HungError)) {
		return &devices.FaultError{Target: d.target, What: err.Error()}
	}
	return err
}

func (l *loaded) launch(in, out []byte, tiles int) error {
	d := l.device
	if err := d.in.grow(d, 0, len(in), 0); err != nil {
		return err
	}
	if err := d.out.grow(d, 1, len(out), memoryCached); err != nil {
		return err
	}
	copy(d.in.bytes, in)
	if err := l.record(tiles); err != nil {
		return err
	}
	s := &submitInfo{kind: kindSubmit, count: 1, buffers: &d.commands}
	if err := check("vkQueueSubmit", d.queueSubmit(d.queue, 1, s, d.fence)); err != nil {
		return err
	}
	const forever = ^uint64(0) // the Executor has a limit
	if err := check("vkWaitForFences", d.waitForFences(d.device, 1, &d.fence, 1, forever)); err != nil {
		return err
	}
	copy(out, d.out.bytes)
	return check("vkResetFences", d.resetFences(d.device, 1, &d.fence))
}

// record writes the commands of a launch: one workgroup for each tile, and a barrier that
// makes their results visible to this process.
func (l *loaded) record(tiles int) error {
	d := l.device
	if err := check("vkBeginCommandBuffer", d.beginCommandBuffer(d.commands, &commandBufferBeginInfo{kind: kindCommandBegin, flags: beginOnce})); err != nil {
		return err
	}
	d.cmdBindPipeline(d.commands, bindCompute, l.pipeline)
	d.cmdBindSets(d.commands, bindCompute, d.pipelineLayout, 0, 1, &d.set, 0, nil)
	d.cmdDispatch(d.commands, uint32(tiles), 1, 1)
	b := &memoryBarrier{kind: kindMemoryBarrier, from: accessShaderWrite, to: accessHostRead}
	d.cmdBarrier(d.commands, pipelineStageShader, pipelineStageHost, 0, 1, b, 0, nil, 0, nil)
	return check("vkEndCommandBuffer", d.endCommandBuffer(d.commands))
}

// Close does nothing: compiled kernels stay until the device is closed.
func (l *loaded) Close() error { return nil }
