// A fused dot product of four that truncates: d = c + a0*b0 + a1*b1 + a2*b2 + a3*b3
// in FP16 and FP32. The terms are aligned at the largest exponent, cut to 24
// fraction bits, added, and the sum is cut to FP32. tfdpa4.json describes the same unit.
//
// One dot product goes in with each clock, and comes out four clocks later.
module tfdpa4 (
    input  logic        clk,
    input  logic        valid_in,
    input  logic [63:0] a,  // element 0 in the low bits
    input  logic [63:0] b,
    input  logic [31:0] c,
    output logic        valid_out,
    output logic [31:0] d
);
    localparam int TERMS = 5;     // four products and c
    localparam int ZERO = -1000;  // exponent of a term that is zero

    // A term is sig * 2^(exp-24), or an infinity or NaN.
    typedef struct packed {
        logic               neg;
        logic               inf;
        logic               nan;
        logic signed [11:0] exp;
        logic        [25:0] sig;
    } term_t;

    // A subnormal number has the exponent of the smallest normal one.
    function automatic logic [25:0] significand(logic [14:0] x);
        return {15'b0, x[14:10] != 0, x[9:0]};
    endfunction

    function automatic int exponent(logic [4:0] field);
        return (field != 0 ? int'(field) : 1) - 15;
    endfunction

    function automatic term_t product(logic [15:0] x, logic [15:0] y);
        logic special_x, special_y;
        special_x = x[14:10] == 5'h1f;
        special_y = y[14:10] == 5'h1f;
        product.neg = x[15] ^ y[15];
        product.nan = special_x && x[9:0] != 0 || special_y && y[9:0] != 0 ||
                      special_x && y[14:0] == 0 || special_y && x[14:0] == 0;
        product.inf = (special_x || special_y) && !product.nan;
        product.sig = significand(x[14:0]) * significand(y[14:0]) << 4;
        product.exp = 12'(product.sig == 0 ? ZERO : exponent(x[14:10]) + exponent(y[14:10]));
    endfunction

    function automatic term_t accumulator(logic [31:0] x);
        accumulator.neg = x[31];
        accumulator.nan = x[30:23] == 8'hff && x[22:0] != 0;
        accumulator.inf = x[30:23] == 8'hff && x[22:0] == 0;
        accumulator.sig = {1'b0, x[30:23] != 0, x[22:0], 1'b0};
        accumulator.exp = 12'(accumulator.sig == 0 ? ZERO : (x[30:23] != 0 ? int'(x[30:23]) : 1) - 127);
    endfunction

    // First clock: terms.
    term_t term[TERMS];
    always_ff @(posedge clk) begin
        for (int i = 0; i < 4; i++) term[i] <= product(a[16*i+:16], b[16*i+:16]);
        term[4] <= accumulator(c);
    end

    // Second clock: the terms in units of 2^(top-24), cut, and whether there are specials.
    logic signed [30:0] aligned[TERMS];
    logic signed [11:0] top, top_next;
    logic nan, plus, minus, nan_next, plus_next, minus_next;
    always_comb begin
        top_next = 12'(ZERO);
        {nan_next, plus_next, minus_next} = 0;
        for (int i = 0; i < TERMS; i++) begin
            if (term[i].exp > top_next) top_next = term[i].exp;
            nan_next |= term[i].nan;
            plus_next |= term[i].inf && !term[i].neg;
            minus_next |= term[i].inf && term[i].neg;
        end
    end
    function automatic logic signed [30:0] align(term_t t, logic signed [11:0] to);
        logic [25:0] cut;
        cut = t.sig >> (to - t.exp);
        return t.neg ? -{5'b0, cut} : {5'b0, cut};
    endfunction

    always_ff @(posedge clk) begin
        for (int i = 0; i < TERMS; i++) aligned[i] <= align(term[i], top_next);
        top <= top_next;
        nan <= nan_next || plus_next && minus_next;
        plus <= plus_next;
        minus <= minus_next;
    end

    // Third clock: the sum as sign and magnitude.
    logic signed [30:0] total;
    logic neg, nan_sum, inf_sum, neg_inf;
    logic [30:0] sum;
    logic signed [11:0] scale;
    always_comb begin
        total = 0;
        for (int i = 0; i < TERMS; i++) total += aligned[i];
    end
    always_ff @(posedge clk) begin
        neg <= total < 0;
        sum <= total < 0 ? -total : total;
        scale <= top;
        nan_sum <= nan;
        inf_sum <= plus || minus;
        neg_inf <= minus;
    end

    // Fourth clock: the sum cut to FP32. In units of the last place the hidden bit of a
    // normal number lies just above the fraction, so that it adds 1 to the exponent field.
    function automatic logic [31:0] pack(logic [30:0] x, int unit, logic sign);
        int high, low, shift;
        logic [31:0] units;
        high = 0;
        for (int i = 0; i < 31; i++) if (x[i]) high = i;
        high += unit;                           // floor(log2 of the sum)
        low = (high > -126 ? high : -126) - 23; // weight of the last place
        shift = unit - low;
        units = shift >= 0 ? 32'(x) << shift : 32'(x) >> -shift;
        if (units == 0) return 0;
        if (high > 127) return {sign, 31'h7f800000};
        return {sign, 31'((low + 149) << 23)} + units;
    endfunction

    always_ff @(posedge clk) begin
        if (nan_sum) d <= 32'h7fffffff;
        else if (inf_sum) d <= {neg_inf, 31'h7f800000};
        else d <= pack(sum, int'(scale) - 24, neg);
    end

    logic [2:0] valid;
    always_ff @(posedge clk) {valid_out, valid} <= {valid, valid_in};
endmodule
